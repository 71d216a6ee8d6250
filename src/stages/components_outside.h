/* SPDX-License-Identifier: Apache-2.0 */
/* The stage components where what it knows of documents is not in memory: components_outside.c says how. */
#ifndef NIGH_STAGES_COMPONENTS_OUTSIDE_H
#define NIGH_STAGES_COMPONENTS_OUTSIDE_H

#include "stages/stage_work.h"

/* Sections of what each task gets. */
enum nigh__components_part { NIGH__COMPONENTS_NEEDED, NIGH__COMPONENTS_PAIRS, NIGH__COMPONENTS_CROWDS };
static inline uint32_t nigh__components_section(const nigh_staged *staged, uint32_t part, uint32_t task) {
    return NIGH__COMPONENTS_TASKS + part * staged->shards + task;
}

/* Whether 8 bytes a document are more than the memory. */
static inline bool nigh__components_are_outside(const nigh_staged *staged, const uint64_t *bases) {
    return bases[staged->shards] > staged->settled->options.memory_bytes / sizeof(uint64_t);
}

nigh_status nigh__components_outside(const nigh_staged *staged, const uint64_t *bases,
                                     struct nigh__stage_writer *writer, nigh_error *error);

#endif
