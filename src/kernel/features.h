/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels may use of this CPU.  A context is given a distance kernel by name, "avx2"
 * say, so that what runs on a smaller CPU can be seen on a larger one: then no other
 * kernel may ask for more than that.
 */
#ifndef NIGH_KERNEL_FEATURES_H
#define NIGH_KERNEL_FEATURES_H

#include <stdint.h>

/* Of this CPU (base/cpu.h), what goes with the distance kernel of that name; NULL: all.  With one that is not known,
 * nothing. */
uint32_t nigh__kernel_features(const char *name);

#endif
