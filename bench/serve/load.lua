-- SPDX-License-Identifier: Apache-2.0
-- For wrk: POSTs the bodies of a file, a line each, to a path, and writes what came as a line of JSON.
--
--     wrk -s load.lua URL -- PATH BODIES OFFSET DELAY_MS
--
-- DELAY_MS is what a connection waits before each request, for a load below what can be had; 0: none.
local bodies, path, delay_ms, at = {}, "/", 0, 0

function init(arguments)
    path = arguments[1]
    for line in io.lines(arguments[2]) do bodies[#bodies + 1] = line end
    at = tonumber(arguments[3]) or 0
    delay_ms = tonumber(arguments[4]) or 0
    math.randomseed(at + 1)
end

function request()
    at = at % #bodies + 1
    return wrk.format("POST", path, {["Content-Type"] = "application/json"}, bodies[at])
end

-- Spread, so that connections do not march in step.
function delay() return delay_ms == 0 and 0 or math.floor(2 * delay_ms * math.random()) end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"seconds":%.3f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f}\n',
        summary.requests, summary.duration / 1e6, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
