/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "lane.h"

#include <errno.h>
#include <time.h>

static struct serve_request *take_first(struct serve_lane *lane) {
    struct serve_request *first = lane->head;
    lane->head = first->next;
    if (lane->head == NULL) lane->tail = NULL;
    lane->waiting--;
    first->next = NULL;
    return first;
}

/* The first, and behind it all others that go together with it. */
static struct serve_request *take_some(struct serve_lane *lane) {
    struct serve_request *first = take_first(lane), *last = first, *before = NULL;
    uint32_t items = first->items, together = 1;
    for (struct serve_request *at = lane->head, *next; lane->joins != NULL && at != NULL; at = next) {
        next = at->next;
        if (items + at->items > lane->most || !lane->joins(first, at)) {
            before = at;
            continue;
        }
        if (before == NULL)
            lane->head = next;
        else
            before->next = next;
        if (next == NULL) lane->tail = before;
        at->next = NULL;
        last->next = at;
        last = at;
        items += at->items;
        together++;
        lane->waiting--;
    }
    for (struct serve_request *at = first; at != NULL; at = at->next) at->together = together;
    return first;
}

/* With the lock; false: nothing came in time. */
static bool wait_for_work(struct serve_lane *lane) {
    struct timespec until;
    if (lane->idle == NULL) return pthread_cond_wait(&lane->come, &lane->lock) == 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += lane->idle_ms / 1000;
    until.tv_nsec += (long)(lane->idle_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_cond_timedwait(&lane->come, &lane->lock, &until) != ETIMEDOUT;
}

static void *work(void *argument) {
    struct serve_lane *lane = argument;
    (void)pthread_mutex_lock(&lane->lock);
    while (lane->head != NULL || !lane->ending) {
        if (lane->head != NULL) {
            struct serve_request *first = take_some(lane);
            lane->working++;
            (void)pthread_mutex_unlock(&lane->lock);
            lane->work(lane->user, first);
            (void)pthread_mutex_lock(&lane->lock);
            lane->working--;
        } else if (!wait_for_work(lane) && lane->idle != NULL) {
            (void)pthread_mutex_unlock(&lane->lock);
            lane->idle(lane->user);
            (void)pthread_mutex_lock(&lane->lock);
        }
    }
    (void)pthread_mutex_unlock(&lane->lock);
    return NULL;
}

int serve_lane_start(struct serve_lane *lane, uint32_t threads) {
    const uint32_t most = sizeof lane->threads / sizeof lane->threads[0];
    pthread_condattr_t monotonic;
    int failed = pthread_mutex_init(&lane->lock, NULL);
    if (failed == 0) failed = pthread_condattr_init(&monotonic);
    if (failed != 0) return failed;
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    failed = pthread_cond_init(&lane->come, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    for (uint32_t i = 0; failed == 0 && i < threads && i < most; i++) {
        failed = pthread_create(&lane->threads[i], NULL, work, lane);
        if (failed == 0) lane->thread_count++;
    }
    return failed;
}

bool serve_lane_push(struct serve_lane *lane, struct serve_request *request) {
    (void)pthread_mutex_lock(&lane->lock);
    const bool room = lane->waiting < lane->limit && !lane->ending && lane->thread_count > 0;
    if (room) {
        request->next = NULL;
        if (lane->tail == NULL)
            lane->head = request;
        else
            lane->tail->next = request;
        lane->tail = request;
        lane->waiting++;
        (void)pthread_cond_signal(&lane->come);
    }
    (void)pthread_mutex_unlock(&lane->lock);
    return room;
}

bool serve_lane_enter(struct serve_lane *lane) {
    (void)pthread_mutex_lock(&lane->lock);
    const bool idle = lane->head == NULL && lane->working == 0 && !lane->ending;
    lane->working += idle;
    (void)pthread_mutex_unlock(&lane->lock);
    return idle;
}

void serve_lane_leave(struct serve_lane *lane) {
    (void)pthread_mutex_lock(&lane->lock);
    lane->working--;
    (void)pthread_mutex_unlock(&lane->lock);
}

void serve_lane_end(struct serve_lane *lane) {
    if (lane->thread_count == 0) return;
    (void)pthread_mutex_lock(&lane->lock);
    lane->ending = true;
    (void)pthread_cond_broadcast(&lane->come);
    (void)pthread_mutex_unlock(&lane->lock);
    for (uint32_t i = 0; i < lane->thread_count; i++) (void)pthread_join(lane->threads[i], NULL);
    lane->thread_count = 0;
}

void serve_lane_look(struct serve_lane *lane, uint32_t *waiting, uint32_t *working) {
    (void)pthread_mutex_lock(&lane->lock);
    *waiting = lane->waiting;
    *working = lane->working;
    (void)pthread_mutex_unlock(&lane->lock);
}
