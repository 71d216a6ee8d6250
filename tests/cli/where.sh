#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --keep-keys and --where: JSON, tables, what is added, replaced, merged and streamed, and what is refused.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

cat > a.jsonl << 'END'
{"id":"a","text":"the quick brown fox jumps over the lazy dog","lang":"en","year":2024,"site":{"name":"x y"}}
{"id":"b","text":"the quick brown fox jumps over a lazy dog","lang":"en","year":2023.5,"site":{"name":"z"}}
{"id":"c","text":"a quick brown fox jumped over the lazy dogs","lang":"de","year":"2024"}
{"id":"d","text":"the quick brown foxes jump over the lazy dog","year":null,"lang":["en","de"]}
{"id":"e","text":"quick brown foxes jump over lazy dogs","lang":true,"year":123456789012345678901234567890}
END
"$NIGH" index -q c.nigh a.jsonl --keep-keys lang,year,site.name || fail index

found() { "$NIGH" search -q --output tsv -k 20 --text 'quick brown fox' "$1" --where "$2" "${@:3}" | cut -f 2 | sort | tr -d '\n'; }
want() {
    local got
    checks=$((checks + 1))
    got=$(found "$1" "$2" "${@:4}")
    [[ $got == "$3" ]] || fail "$2: found '$got', not '$3'"
}
conditions() {
    want "$1" 'lang = en' ab
    want "$1" 'lang != en' ce
    want "$1" 'not lang = en' cde
    want "$1" 'lang = en and year >= 2024' a
    want "$1" 'year = 2024.0' a
    want "$1" "year = '2024'" c
    want "$1" 'year < 2024' b
    want "$1" 'year > 1e25' e
    want "$1" "year in ('2024', 2023.5)" bc
    want "$1" 'lang = true or site.name = "x y"' ae
    want "$1" 'not (lang = en or lang != en)' d
    want "$1" 'LANG = en' ''
}
conditions c.nigh 2> /dev/null
want c.nigh 'lang = en' ab --method exact
want c.nigh 'lang = en' ab --all-bits --radius 1024
printf 'b\nc\n' > ids.txt
want c.nigh 'lang = en' b --among ids.txt
expect 1 ANY '' -- "$NIGH" search -q c.nigh --text fox --where 'lang = fr'

# What cannot be read, and what is not kept.
expect 2 '' "nigh: column 8 of the condition: a value is missing at its end" -- "$NIGH" search -q c.nigh --text fox --where 'lang = '
expect 2 '' "nigh: column 1 of the condition: no key 'tongue' is kept; these are: lang, year, site.name" -- \
    "$NIGH" search -q c.nigh --text fox --where 'tongue = en'
expect 2 '' "nigh: column 15 of the condition: a quote without its end" -- "$NIGH" pairs -q c.nigh -r 9 --where "lang = en and '"
"$NIGH" index -q plain.nigh a.jsonl || fail plain
expect 2 '' "nigh: column 1 of the condition: no key 'lang' is kept; these are: none" -- \
    "$NIGH" search -q plain.nigh --text fox --where 'lang = en'
expect 2 '' "nigh: 'plain.nigh': it keeps the keys none, and not lang" -- "$NIGH" index -q plain.nigh a.jsonl --keep-keys lang
expect 2 '' "nigh: 'c.nigh': it keeps the keys lang, year, site.name, and not year, lang" -- \
    "$NIGH" index -q c.nigh a.jsonl --keep-keys year,lang
expect 2 '' "nigh: the key 'a' is to be kept twice" -- "$NIGH" index -q new.nigh a.jsonl --keep-keys a,a
expect 2 '' "nigh: an empty key to keep" -- "$NIGH" index -q new.nigh a.jsonl --keep-keys a,,b
[[ ! -e new.nigh ]] || fail 'made although it was refused'
printf '00000000000000ff\n' > row.hex
expect 2 '' ANY -- "$NIGH" index -q rows.nigh row.hex --keep-keys a
grep -q 'keep-keys is for documents' .err || fail 'keys of signatures'

# nigh info.
expect 0 ANY '' -- "$NIGH" info c.nigh
grep -q '^  kept key      lang: 4 documents, of 3 texts$' .out || fail 'info: lang'
grep -q '^  kept key      year: 4 documents, of 1 whole number, 2 other numbers, 1 text$' .out || fail 'info: year'
"$NIGH" info --output jsonl c.nigh | grep -q '"kept_keys":\[{"name":"lang","documents":4,"integers":0,"reals":0,"texts":3},' ||
    fail 'info as JSON'

# Pairs: of documents of which it is true.
expect 0 'a	b' '' -- bash -c "\"$NIGH\" pairs -q --radius 1024 --output tsv c.nigh --where 'lang = en' | cut -f 1-2"
printf 'a\nc\n' > ids.txt
expect 0 'a	c' '' -- bash -c "\"$NIGH\" pairs -q --radius 1024 --output tsv c.nigh --among ids.txt | cut -f 1-2"

# The same records as a table: numbers are what is written so, and an empty field is nothing.
cat > a.csv << 'END'
id,text,lang,year
a,the quick brown fox jumps over the lazy dog,en,2024
b,the quick brown fox jumps over a lazy dog,en,2023.5
c,a quick brown fox jumped over the lazy dogs,de,02024
d,quick brown foxes jump over the lazy dog,,
END
"$NIGH" index -q t.nigh a.csv --keep-keys lang,year || fail 'index a table'
want t.nigh 'year >= 2023.5 and lang = en' ab
want t.nigh 'year = 02024' c
want t.nigh "not (lang = en or lang = de)" d

# What is added later, without a word; replaced; deleted; merged into what adding at once makes.
head -2 a.jsonl > first.jsonl
tail -3 a.jsonl > rest.jsonl
"$NIGH" sign --make-vocabulary words a.jsonl > /dev/null 2>&1 || fail vocabulary
"$NIGH" index -q once.nigh a.jsonl --keep-keys lang,year,site.name --vocabulary words || fail once
"$NIGH" index -q later.nigh first.jsonl --keep-keys lang,year,site.name --vocabulary words || fail first
"$NIGH" index -q later.nigh rest.jsonl || fail rest
conditions later.nigh 2> /dev/null
"$NIGH" merge -q later.nigh || fail merge
conditions later.nigh 2> /dev/null
cmp -s once.nigh/segment-* later.nigh/segment-* || fail 'merged is not as made at once'
expect 0 ANY ANY -- "$NIGH" check later.nigh
sed 's/"lang":"de"/"lang":"nl"/' rest.jsonl > changed.jsonl
"$NIGH" index -q later.nigh changed.jsonl --replace || fail replace
want later.nigh 'lang in (de, nl)' c
"$NIGH" delete -q later.nigh a || fail delete
want later.nigh 'lang = en' b
"$NIGH" adopt -q all.nigh later.nigh || fail adopt
want all.nigh 'lang = en or lang = nl' bc
expect 2 '' ANY -- "$NIGH" adopt -q all.nigh plain.nigh
grep -q 'it keeps other keys than' .err || fail 'adopt of other keys'

# Find or add, by lines and by files; near-copies and bits.
cat > others.jsonl << 'END'
{"id":"f","text":"ships carried grain and timber across the northern sea","lang":"en","year":1850}
{"id":"g","text":"mountains rise behind orchards where rivers begin","lang":"fr","year":1851}
END
for scheme in simhash minhash; do
    for way in stream files; do
        rm -rf s.nigh
        "$NIGH" index -q s.nigh first.jsonl --scheme $scheme --keep-keys lang,year || fail "index by $scheme"
        if [[ $way == stream ]]; then
            "$NIGH" against -q s.nigh --add --stream - < others.jsonl > /dev/null || fail "stream to $scheme"
        else
            "$NIGH" against -q s.nigh others.jsonl --add > /dev/null
        fi
        want s.nigh 'lang = en and year = 1850 or lang = fr' fg
        expect 0 ANY ANY -- "$NIGH" check s.nigh
    done
done

# A collection that find or add makes; the keys are the same each day, and other keys are refused.
for stream in --stream ''; do # nothing: all at once
    way=(${stream:+"$stream"})
    against() { "$NIGH" against -q s.nigh --add "${way[@]}" "$@"; }
    other() { expect 2 '' "nigh: 's.nigh': it keeps the keys $1, and not $2" -- "$NIGH" against -q s.nigh --add "${way[@]}" rest.jsonl --keep-keys "$3"; }
    rm -rf s.nigh
    expect 2 '' "nigh: the key 'a' is to be kept twice" -- against --keep-keys a,a others.jsonl
    [[ ! -e s.nigh ]] || fail 'made although it was refused'
    expect 0 ANY '' -- against --keep-keys lang,site.name first.jsonl
    want s.nigh 'lang = en and site.name = "x y"' a
    expect 0 ANY '' -- against --keep-keys lang,site.name others.jsonl
    other 'lang, site.name' 'site.name, lang' site.name,lang
    other 'lang, site.name' lang lang
    expect 0 ANY '' -- against rest.jsonl # without a word
    want s.nigh 'lang in (fr, true)' eg
    expect 0 ANY ANY -- "$NIGH" check s.nigh
    rm -rf s.nigh
    expect 0 ANY '' -- against first.jsonl
    other none lang lang
    rm -rf s.nigh
    "$NIGH" index -q s.nigh first.jsonl --scheme simhash --keep-keys lang || fail 'index by bits'
    other lang year year
    expect 0 ANY '' -- against --keep-keys lang others.jsonl
    want s.nigh 'lang = fr' g
done
refused() { expect 2 '' "nigh against: $1"$'\n'"try 'nigh against --help'" -- "$NIGH" against -q "${@:2}"; }
refused '--keep-keys goes with --add' s.nigh --keep-keys lang others.jsonl
refused '--keep-keys is for a collection; chunks keep no keys' x.chunks --add --keep-keys lang others.jsonl
refused '--keep-keys is for documents; signatures have no keys' none.nigh --add --keep-keys lang row.hex
refused '--keep-keys is for documents; signatures have no keys' none.nigh --add --stream --format hex --bits 64 -r 3 --keep-keys lang row.hex

finish
