/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the disk is that a folder lies on. */
#ifndef NIGH_CLI_PLAN_DISK_H
#define NIGH_CLI_PLAN_DISK_H

/*
 * Bytes a second, read in sequence from a file that the system was told to forget; takes
 * a third of a second at most where the disk is not very slow.  0: cannot be measured.
 */
double plan_disk_speed(const char *folder);

#endif
