-- SPDX-License-Identifier: Apache-2.0
-- For wrk: POSTs the bodies of a file, a line each, to a path, and writes what came as a line of JSON.
--
--     wrk -s load.lua URL -- PATH BODIES OFFSET
--
-- Each connection asks as soon as it is answered.  For a load below what can be had there is paced.c.
local bodies, path, at = {}, "/", 0

function init(arguments)
    path = arguments[1]
    for line in io.lines(arguments[2]) do bodies[#bodies + 1] = line end
    at = tonumber(arguments[3]) or 0
end

function request()
    at = at % #bodies + 1
    return wrk.format("POST", path, {["Content-Type"] = "application/json"}, bodies[at])
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"seconds":%.3f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f}\n',
        summary.requests, summary.duration / 1e6, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
