#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wrong use: what is said, and what is suggested.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

search_hint="try 'nigh search --help'"

expect 2 '' "nigh search: unknown option '--radios'; did you mean '--radius'?
$search_hint" -- "$NIGH" search --radios 3
expect 2 '' "nigh search: unknown option '--rad'; did you mean '--radius'?
$search_hint" -- "$NIGH" search --rad=3
expect 2 '' "nigh search: unknown option '--outptu'; did you mean '--output'?
$search_hint" -- "$NIGH" search --outptu=tsv
expect 2 '' "nigh search: unknown option '--wibble'
$search_hint" -- "$NIGH" search --wibble
# A name of before is answered with the one of today, where the command has it.
expect 2 '' "nigh plan: '--usual' is now '--default-costs'
try 'nigh plan --help'" -- "$NIGH" plan --usual -n 10M
expect 2 '' "nigh search: unknown option '--usual'
$search_hint" -- "$NIGH" search --usual
expect 2 '' "nigh search: unknown option '-x'
$search_hint" -- "$NIGH" search -qx
expect 2 '' "nigh: unknown command 'serach'; did you mean 'search'?
try 'nigh --help'" -- "$NIGH" serach
expect 2 '' "nigh: unknown command 'frobnicate'
try 'nigh --help'" -- "$NIGH" frobnicate
expect 2 '' "nigh: unknown option '--verison'; did you mean '--version'?
try 'nigh --help'" -- "$NIGH" --verison
expect 2 '' "nigh: unknown command 'indx'; did you mean 'index'?
try 'nigh --help'" -- "$NIGH" help indx
expect 2 '' "nigh eval: unknown command 'eval nearst'; did you mean 'eval nearest'?
try 'nigh eval --help'" -- "$NIGH" help eval nearst

# Values: whole, in range, one of the list.
expect 2 '' "nigh search: --threads takes a whole number from 0 to 256, not 'two'
$search_hint" -- "$NIGH" search --threads two
expect 2 '' "nigh search: --threads takes a whole number from 0 to 256, not '257'
$search_hint" -- "$NIGH" search --threads=257
expect 2 '' "nigh search: --threads takes a whole number from 0 to 256, not '3x'
$search_hint" -- "$NIGH" search --threads 3x
expect 2 '' "nigh search: --threads takes a whole number from 0 to 256, not ''
$search_hint" -- "$NIGH" search --threads=
expect 2 '' "nigh search: --threads takes a whole number from 0 to 256, not '-1'
$search_hint" -- "$NIGH" search --threads -1
expect 2 '' "nigh search: --radius takes a whole number from 0 to 65536, not '99999999999999999999999'
$search_hint" -- "$NIGH" search --radius 99999999999999999999999
expect 2 '' "nigh search: --threads takes a whole number from 0 to 256, not '1K'
$search_hint" -- "$NIGH" search --threads 1K
expect 2 '' "nigh search: --radius takes a whole number from 0 to 65536, not '18446744073709552K'
$search_hint" -- "$NIGH" search --radius 18446744073709552K
expect 2 '' "nigh search: --radius takes a whole number from 0 to 65536, not '1KB'
$search_hint" -- "$NIGH" search --radius 1KB
expect 2 '' "nigh search: -k must be at least 1
$search_hint" -- "$NIGH" search -k 0 c.nigh q.hex
expect 2 '' "nigh search: -k must be at least 1
$search_hint" -- "$NIGH" search -k0 c.nigh q.hex
expect 2 '' "nigh search: -k takes a whole number from 1 to 4294967293, not '4294967295'
$search_hint" -- "$NIGH" search -k 4294967295
expect 2 '' "nigh search: --output takes one of table, jsonl, tsv, trec; not 'xml'
$search_hint" -- "$NIGH" search --output xml
expect 2 '' "nigh search: --radius needs a value: --radius BITS
$search_hint" -- "$NIGH" search c.nigh --radius
expect 2 '' "nigh search: -k needs a value: -k N
$search_hint" -- "$NIGH" search c.nigh -k
expect 2 '' "nigh search: --exact takes no value
$search_hint" -- "$NIGH" search --exact=yes

# Operands.
expect 2 '' "nigh search: no COLLECTION given
$search_hint" -- "$NIGH" search
expect 2 '' "nigh search: no QUERY given, and no --text or --id
$search_hint" -- "$NIGH" search c.nigh
expect 2 '' "nigh search: standard input ('-') can be read only once
$search_hint" -- "$NIGH" search c.nigh - -
expect 2 '' "nigh index: no COLLECTION given
try 'nigh index --help'" -- "$NIGH" index
expect 2 '' "nigh index: no INPUT given
try 'nigh index --help'" -- "$NIGH" index c.nigh
expect 2 '' "nigh index: --ids goes with one INPUT, not with 2
try 'nigh index --help'" -- "$NIGH" index c.nigh --ids i a b
expect 2 '' "nigh index: --ids takes a file, not standard input
try 'nigh index --help'" -- "$NIGH" index c.nigh --ids - a
expect 2 '' "nigh index: --bits must be at least 1
try 'nigh index --help'" -- "$NIGH" index c.nigh --bits 0 a
expect 2 '' "nigh info: give one COLLECTION or MODEL, not 0
try 'nigh info --help'" -- "$NIGH" info
expect 2 '' "nigh check: give one COLLECTION, not 2
try 'nigh check --help'" -- "$NIGH" check a b
expect 2 '' "nigh export: no output given; -o FILE, or -o - for standard output
try 'nigh export --help'" -- "$NIGH" export c.nigh
expect 2 '' "nigh export: -o and --ids cannot both be standard output
try 'nigh export --help'" -- "$NIGH" export c.nigh -o - --ids -
expect 2 '' "nigh generate: no output given; -o FILE, or -o - for standard output
try 'nigh generate --help'" -- "$NIGH" generate
expect 2 '' "nigh generate: unexpected operand 'x.npy'
try 'nigh generate --help'" -- "$NIGH" generate x.npy
expect 2 '' "nigh generate: --bits takes a whole number from 1 to 65536, not '65537'
try 'nigh generate --help'" -- "$NIGH" generate --bits 65537 -o x.npy
expect 2 '' "nigh completion: no completion for 'fish'; there is bash and zsh
try 'nigh completion --help'" -- "$NIGH" completion fish
expect 2 '' "nigh manual: no command 'bogus'
try 'nigh manual --help'" -- "$NIGH" manual bogus
expect 2 '' "nigh manual: no command 'eval bogus'
try 'nigh manual --help'" -- "$NIGH" manual eval bogus
expect 2 '' "nigh manual: no command 'search index'
try 'nigh manual --help'" -- "$NIGH" manual search index
expect 2 '' "nigh commands: no command 'bogus'
try 'nigh commands --help'" -- "$NIGH" commands bogus

# What a terminal would obey is not passed on.
expect 2 '' "nigh: unknown command 'a\x1b[31mb\xc2\x9bc'
try 'nigh --help'" -- "$NIGH" $'a\033[31mb\xc2\x9bc'

# After -- nothing is an option; bundled flags and attached values are.
printf '0000\n' > -q.hex
expect 0 '' '' -- "$NIGH" index -q c.nigh -- -q.hex
expect 0 $'0\t0\t0\t1' '' -- four "$NIGH" search -qk1 --output=tsv c.nigh -- -q.hex

[[ -e x.npy ]] && fail 'something was written'
finish
