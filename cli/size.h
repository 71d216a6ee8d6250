/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes for people. */
#ifndef NIGH_CLI_SIZE_H
#define NIGH_CLI_SIZE_H

/* "512 KB", "1.2 GB". */
struct cli_size {
    char text[16];
};
struct cli_size cli_size(double bytes);

#endif
