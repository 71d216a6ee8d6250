/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait for threads to work on them.  There is a lane for searches, one for what takes long, and one
 * for each collection that is written to, so that a sync holds up no search.
 *
 *     push -> [ r7 r6 r5 r4 r3 ] -> a thread takes r3 and all that go together with it, at once
 *
 * A request that finds an idle thread is worked on at once, alone: no request waits for company. Requests that
 * gather while all threads are busy go together. A quick request is worked on by the thread that brings it, if
 * nobody else is at work.
 */
#ifndef NIGH_SERVER_LANE_H
#define NIGH_SERVER_LANE_H

#include <pthread.h>

#include "request.h"

struct serve_lane {
    void (*work)(void *user, struct serve_request *first); /* finishes all of the list */
    /* NULL, or whether another can be worked on together with the first. */
    bool (*joins)(const struct serve_request *first, const struct serve_request *other);
    void (*idle)(void *user); /* NULL, or called where nothing came for idle_ms, and then again and again */
    uint32_t idle_ms;
    uint32_t limit; /* of those that wait */
    uint32_t most;  /* together, by their items */
    void *user;

    pthread_mutex_t lock;
    pthread_cond_t come;
    struct serve_request *head, *tail;
    uint32_t waiting, working;
    bool ending;
    pthread_t threads[64];
    uint32_t thread_count;
};

/* Starts `threads` threads, at most 64.  Returns 0 or an errno value. */
int serve_lane_start(struct serve_lane *lane, uint32_t threads);

/* False: too many wait already, or it is ending. */
bool serve_lane_push(struct serve_lane *lane, struct serve_request *request);

/*
 * For one that whoever brings it works on himself, without the way to a thread and back.  False: something waits, or
 * somebody works; else serve_lane_leave() follows.
 */
bool serve_lane_enter(struct serve_lane *lane);
void serve_lane_leave(struct serve_lane *lane);

/* Works on all that waits, then ends the threads. */
void serve_lane_end(struct serve_lane *lane);

/* Those that wait, and threads that work. */
void serve_lane_look(struct serve_lane *lane, uint32_t *waiting, uint32_t *working);

#endif
