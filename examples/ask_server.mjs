// SPDX-License-Identifier: Apache-2.0
// Asks nigh serve: node ask_server.mjs http://127.0.0.1:7700 news "flood in the valley"
const [address, collection, text] = process.argv.slice(2);

async function ask(question) {
    const headers = { "Content-Type": "application/json" };
    if (process.env.NIGH_TOKEN) headers.Authorization = `Bearer ${process.env.NIGH_TOKEN}`;
    const answer = await fetch(new URL(`/v1/collections/${encodeURIComponent(collection)}/search`, address),
        { method: "POST", headers, body: JSON.stringify(question) });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail);
    return body.results[0];
}

const found = await ask({ text, k: 5 });
for (const match of found.matches)
    console.log(`${(match.similarity * 100).toFixed(2)}%  ${match.id}  ${(match.snippet ?? "").slice(0, 60)}`);
console.log(found.proof.says);
