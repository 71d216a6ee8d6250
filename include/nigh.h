/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh: near-duplicate detection and nearest-document search over binary
 * signatures.  This header brings in all of it; each header below can be read, and
 * included, alone.
 *
 * Caveats, before anything else:
 *
 *   - The library never prints, never exits and never reads the environment.
 *     It keeps no global state but one thing: nigh_fault_guard_install(), which
 *     is optional and says what it does.
 *   - A signature of `width_bits` bits, 1 to 65,536, is nigh_signature_bytes() bytes;
 *     bit i is bit (i mod 8) of byte (i / 8), and the bits left over are 0.
 *   - Structs that may grow begin with `size`.  An option struct is set up by its
 *     nigh_..._init(); of a struct that the library fills, set `size` to its sizeof.
 *     Fields are only ever appended, so a program built against an older header
 *     keeps its meaning.  A NULL options pointer means all defaults.
 *   - In every number of an option struct, NIGH_DEFAULT (-1) leaves it to the library.
 *   - Every fallible call takes a `nigh_error *` last, which may be NULL.  It is
 *     written only on failure, and then says which file, where, and why.
 *   - Handles are not reference counted: free what was made from a handle
 *     before the handle itself, and the context last.
 *   - Same input, same answer, whatever the threads or the CPU.
 *
 * Each declaration answers the same four questions: Owns, Lives, Threads,
 * Returns.  Where a group of functions shares its answers, the first has them.
 */
#ifndef NIGH_H
#define NIGH_H

/* Simple: documents in, answers out. */
#include "nigh/against.h"
#include "nigh/base.h"
#include "nigh/corpus.h"
#include "nigh/dedup.h"

/* The parts these are made of. */
#include "nigh/collection.h"
#include "nigh/document.h"
#include "nigh/search.h"
#include "nigh/signature.h"
#include "nigh/text.h"

/* For large collections, and for particular needs. */
#include "nigh/finder.h"
#include "nigh/join.h"
#include "nigh/learn.h"
#include "nigh/live.h"
#include "nigh/sidecar.h"
#include "nigh/stages.h"
#include "nigh/tasks.h"
#include "nigh/terms.h"
#include "nigh/tune.h"

/* What may still change. */
#include "nigh/eval.h"
#include "nigh/plan.h"

#endif
