/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing but a soname for the linker; never loaded. C has no empty translation unit, hence the declaration.
 */
typedef int gatun_nothing;
