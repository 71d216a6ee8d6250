/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be true whatever the input: a condition that fails is a mistake in this library, so
 * the program stops there, where a debugger or a sanitizer shows it.  What a caller or a file may
 * get wrong is answered with an error instead, in every build.
 *
 * On where NDEBUG is not defined (the presets debug, asan, tsan, fuzz and coverage) or NIGH_ASSERT
 * is, and where clang-tidy reads the sources, which then knows it too.  Off, the condition is compiled and never run:
 * it may call functions, but must not change anything.
 */
#ifndef NIGH_BASE_ASSERT_H
#define NIGH_BASE_ASSERT_H

#if !defined NDEBUG || defined NIGH_ASSERT || defined __clang_analyzer__
#define NIGH__ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define NIGH__ASSERT(condition) ((void)(0 && (condition)))
#endif

#endif
