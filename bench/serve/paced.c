/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: paced HOST PORT PATH BODIES|- CONNECTIONS RATE SECONDS
 *
 * Sends RATE requests a second as strangers would: each at a moment that chance has chosen before (a Poisson process),
 * whether or not those before it were answered.  A latency counts from that moment, not from when a connection was
 * free or when this process got to run; so a pause of the server shows in all who came during it.  A client that waits
 * for an answer before it asks again, as wrk does, asks nothing during a pause, and counts it once.
 *
 *     due ----> sent ----------> answered
 *     |  late  |      asked     |            late: no connection was free, or this process did not run
 *
 * BODIES has a body a line, POSTed in turn; "-" is for GET.  Writes a line of JSON, in milliseconds.
 */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define ROOM ((size_t)1 << 20) /* of an answer */
#define MOST_CONNECTIONS 1024u
#define DRAIN_SECONDS 10u

struct request {
    uint64_t due, sent, answered;
};

struct connection {
    int socket;
    struct request *request; /* NULL: it is free */
    char *answer;
    size_t length;
};

static struct {
    struct sockaddr_in address;
    const char *host, *path;
    char **requests; /* whole ones, with their heads */
    size_t request_count, next_text;
    struct connection connections[MOST_CONNECTIONS];
    struct connection *idle[MOST_CONNECTIONS];
    size_t connection_count, idle_count;
    struct request *schedule;
    size_t count, next_due, next_sent, done, errors;
    int poll;
} paced;

static void must(bool good, const char *what) {
    if (good) return;
    perror(what);
    exit(2);
}

static uint64_t now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* splitmix64, from 0 up to 1, neither of them */
static double chance(void) {
    static uint64_t state = 1;
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

/* -ln x by its series, so that no library of mathematics is needed: x = m 2^-e with m in [1, 2). */
static double minus_log(double x) {
    double sum = 0;
    while (x < 1) {
        x *= 2;
        sum += 0.6931471805599453;
    }
    const double t = (x - 1) / (x + 1), square = t * t;
    double term = 2 * t, log = 0;
    for (int i = 1; i < 40; i += 2) {
        log += term / i;
        term *= square;
    }
    return sum - log;
}

/* ---------------------------------------------------------------- requests -- */

static void add_request(const char *body) {
    char *whole = NULL;
    const int length =
        body == NULL
            ? asprintf(&whole, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", paced.path, paced.host)
            : asprintf(
                  &whole,
                  "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                  paced.path, paced.host, strlen(body), body);
    must(length > 0, "a request");
    paced.requests = realloc(paced.requests, (paced.request_count + 1) * sizeof *paced.requests);
    must(paced.requests != NULL, "requests");
    paced.requests[paced.request_count++] = whole;
}

static void read_bodies(const char *path) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    if (strcmp(path, "-") == 0) {
        add_request(NULL);
        return;
    }
    FILE *file = fopen(path, "r");
    must(file != NULL, path);
    while ((length = getline(&line, &room, file)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = '\0';
        add_request(line);
    }
    free(line);
    (void)fclose(file);
    must(paced.request_count > 0, path);
}

static void make_schedule(double rate, double seconds) {
    const size_t room = (size_t)(rate * seconds * 1.5) + 1000;
    double at = 0;
    paced.schedule = calloc(room, sizeof *paced.schedule);
    must(paced.schedule != NULL, "a schedule");
    while (paced.count < room && (at += minus_log(chance()) / rate) < seconds)
        paced.schedule[paced.count++].due = (uint64_t)(at * (double)SECOND);
}

/* ------------------------------------------------------------- connections -- */

static void open_connection(struct connection *connection) {
    const int yes = 1;
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(connection->socket >= 0, "a socket");
    must(connect(connection->socket, (const struct sockaddr *)&paced.address, sizeof paced.address) == 0, "connect");
    (void)setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    must(fcntl(connection->socket, F_SETFL, O_NONBLOCK) == 0, "a socket");
    if (connection->answer == NULL) connection->answer = malloc(ROOM);
    must(connection->answer != NULL, "room for an answer");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    must(epoll_ctl(paced.poll, EPOLL_CTL_ADD, connection->socket, &event) == 0, "epoll_ctl");
    paced.idle[paced.idle_count++] = connection;
}

static void finish(struct connection *connection, bool good) {
    connection->request->answered = now();
    connection->request = NULL;
    paced.done++;
    paced.errors += !good;
    paced.idle[paced.idle_count++] = connection;
}

static void lose(struct connection *connection) {
    must(connection->request != NULL, "an idle connection was closed");
    (void)close(connection->socket);
    finish(connection, false);
    paced.idle_count--;
    open_connection(connection);
}

/* Bodies fit into what the system keeps of a socket. */
static void send_next(void) {
    struct connection *connection = paced.idle[--paced.idle_count];
    const char *text = paced.requests[paced.next_text++ % paced.request_count];
    const size_t length = strlen(text);
    connection->request = &paced.schedule[paced.next_sent++];
    connection->length = 0;
    connection->request->sent = now();
    if (send(connection->socket, text, length, MSG_NOSIGNAL) != (ssize_t)length) lose(connection);
}

/* The bytes of a whole answer; 0: it is not there yet. */
static size_t whole_answer(struct connection *connection) {
    connection->answer[connection->length] = '\0';
    const char *end = strstr(connection->answer, "\r\n\r\n");
    const char *length = strcasestr(connection->answer, "\r\nContent-Length:");
    if (end == NULL || length == NULL || length > end) return 0;
    return (size_t)(end + 4 - connection->answer) + strtoul(length + 17, NULL, 10);
}

static void receive(struct connection *connection) {
    const ssize_t got =
        recv(connection->socket, connection->answer + connection->length, ROOM - 1 - connection->length, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        lose(connection);
        return;
    }
    connection->length += (size_t)got;
    const size_t whole = whole_answer(connection);
    if (whole > 0 && connection->length >= whole) finish(connection, strncmp(connection->answer + 9, "200", 3) == 0);
}

static void wait_and_receive(uint64_t until) {
    struct epoll_event events[64];
    const uint64_t at = now(), left = until > at ? until - at : 0;
    const struct timespec pause = {.tv_sec = (time_t)(left / SECOND), .tv_nsec = (long)(left % SECOND)};
    const int come = epoll_pwait2(paced.poll, events, 64, &pause, NULL);
    for (int i = 0; i < come; i++) receive(events[i].data.ptr);
}

static void run(void) {
    const uint64_t begun = now();
    uint64_t end = begun + DRAIN_SECONDS * SECOND;
    for (size_t i = 0; i < paced.count; i++) paced.schedule[i].due += begun;
    if (paced.count > 0) end += paced.schedule[paced.count - 1].due - begun;
    while (paced.done < paced.count && now() < end) {
        while (paced.next_due < paced.count && paced.schedule[paced.next_due].due <= now()) paced.next_due++;
        while (paced.next_sent < paced.next_due && paced.idle_count > 0) send_next();
        wait_and_receive(paced.next_due < paced.count ? paced.schedule[paced.next_due].due : end);
    }
}

/* ----------------------------------------------------------------- telling -- */

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void tell(const char *name, uint64_t (*of)(const struct request *request)) {
    uint64_t *times = calloc(paced.count + 1, sizeof *times);
    size_t count = 0;
    must(times != NULL, "room for times");
    for (size_t i = 0; i < paced.count; i++)
        if (paced.schedule[i].answered != 0) times[count++] = of(&paced.schedule[i]);
    qsort(times, count, sizeof *times, ascending);
    const size_t middle = count / 2, late = count * 99 / 100, last = count == 0 ? 0 : count - 1;
    (void)printf(",\"%sp50_ms\":%.3f,\"%sp99_ms\":%.3f,\"%smax_ms\":%.3f", name, (double)times[middle] / 1e6, name,
                 (double)times[late] / 1e6, name, (double)times[last] / 1e6);
    free(times);
}

static uint64_t whole_of(const struct request *request) { return request->answered - request->due; }
static uint64_t asked_of(const struct request *request) { return request->answered - request->sent; }
static uint64_t late_of(const struct request *request) { return request->sent - request->due; }

int main(int count, char **arguments) {
    if (count != 8) {
        (void)fprintf(stderr, "usage: paced HOST PORT PATH BODIES|- CONNECTIONS RATE SECONDS\n");
        return 2;
    }
    const double rate = strtod(arguments[6], NULL), seconds = strtod(arguments[7], NULL);
    paced.host = arguments[1];
    paced.path = arguments[3];
    paced.address.sin_family = AF_INET;
    paced.address.sin_port = htons((uint16_t)strtoul(arguments[2], NULL, 10));
    must(inet_pton(AF_INET, paced.host, &paced.address.sin_addr) == 1, "an address in numbers");
    paced.connection_count = strtoul(arguments[5], NULL, 10);
    must(paced.connection_count > 0 && paced.connection_count <= MOST_CONNECTIONS && rate > 0 && seconds > 0,
         "numbers");
    read_bodies(arguments[4]);
    make_schedule(rate, seconds);
    paced.poll = epoll_create1(EPOLL_CLOEXEC);
    must(paced.poll >= 0, "epoll_create1");
    for (size_t i = 0; i < paced.connection_count; i++) open_connection(&paced.connections[i]);
    run();
    (void)printf("{\"requests\":%zu,\"seconds\":%.3f,\"errors\":%zu", paced.done, seconds,
                 paced.errors + paced.count - paced.done);
    tell("", whole_of);
    tell("asked_", asked_of);
    tell("late_", late_of);
    (void)printf("}\n");
    return 0;
}
