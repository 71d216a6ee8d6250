/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libmicrohttpd that nigh serve calls; see late.h.  The linker names one that is missing here. */
#include <microhttpd.h>
#include <stdarg.h>

#include "late.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): headers abbreviate */

#define MHD LATE_LIBMICROHTTPD

/* Its options are passed on as the library itself offers. */
struct MHD_Daemon *MHD_start_daemon(unsigned int flags, uint16_t port, MHD_AcceptPolicyCallback policy,
                                    void *policy_user, MHD_AccessHandlerCallback handler, void *handler_user, ...) {
    static _Atomic(void *) known;
    typedef struct MHD_Daemon *start(unsigned int, uint16_t, MHD_AcceptPolicyCallback, void *,
                                     MHD_AccessHandlerCallback, void *, va_list);
    va_list options;
    va_start(options, handler_user);
    struct MHD_Daemon *daemon = ((start *)late_function(MHD, "MHD_start_daemon_va", &known))(
        flags, port, policy, policy_user, handler, handler_user, options);
    va_end(options);
    return daemon;
}

LATE_VOID(MHD, MHD_stop_daemon, (struct MHD_Daemon * daemon), (daemon))
LATE(MHD, MHD_socket, MHD_quiesce_daemon, (struct MHD_Daemon * daemon), (daemon))
LATE(MHD, enum MHD_Result, MHD_add_connection,
     (struct MHD_Daemon * daemon, MHD_socket client, const struct sockaddr *address, socklen_t length),
     (daemon, client, address, length))

/* What we ask has no further arguments. */
const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *connection,
                                                        enum MHD_ConnectionInfoType what, ...) {
    static _Atomic(void *) known;
    typedef const union MHD_ConnectionInfo *info(struct MHD_Connection *, enum MHD_ConnectionInfoType, ...);
    return ((info *)late_function(MHD, "MHD_get_connection_info", &known))(connection, what);
}

LATE(MHD, int, MHD_get_connection_values,
     (struct MHD_Connection * connection, enum MHD_ValueKind kind, MHD_KeyValueIterator each, void *user),
     (connection, kind, each, user))
LATE(MHD, const char *, MHD_lookup_connection_value,
     (struct MHD_Connection * connection, enum MHD_ValueKind kind, const char *key), (connection, kind, key))
LATE_VOID(MHD, MHD_suspend_connection, (struct MHD_Connection * connection), (connection))
LATE_VOID(MHD, MHD_resume_connection, (struct MHD_Connection * connection), (connection))

LATE(MHD, struct MHD_Response *, MHD_create_response_from_buffer,
     (size_t size, void *buffer, enum MHD_ResponseMemoryMode mode), (size, buffer, mode))
LATE(MHD, enum MHD_Result, MHD_add_response_header,
     (struct MHD_Response * response, const char *header, const char *content), (response, header, content))
LATE(MHD, enum MHD_Result, MHD_queue_response,
     (struct MHD_Connection * connection, unsigned int status, struct MHD_Response *response),
     (connection, status, response))
LATE_VOID(MHD, MHD_destroy_response, (struct MHD_Response * response), (response))
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
