/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes for people; two digits are enough to tell large from small. */
#include "size.h"

#include <stdio.h>

struct cli_size cli_size(double bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    struct cli_size size;
    int unit = 0;
    for (; bytes >= 999.5 && unit < 5; unit++) bytes /= 1000;
    (void)snprintf(size.text, sizeof size.text, bytes < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return size;
}
