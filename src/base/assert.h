/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions that must hold whatever the input. If one fails, this library has a bug, and the program stops there,
 * where a debugger or a sanitizer shows it. Mistakes of a caller or in a file are answered with an error instead, in
 * every build.
 *
 * Assertions are on if NDEBUG is not defined (the presets debug, asan, tsan, fuzz and coverage) or NIGH_ASSERT is,
 * and when clang-tidy reads the sources. When they are off, the condition is compiled but never run; so it may call
 * functions, but must not change anything.
 */
#ifndef NIGH_BASE_ASSERT_H
#define NIGH_BASE_ASSERT_H

#if !defined NDEBUG || defined NIGH_ASSERT || defined __clang_analyzer__
#define NIGH__ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define NIGH__ASSERT(condition) ((void)(0 && (condition)))
#endif

#endif
