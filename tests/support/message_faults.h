/* SPDX-License-Identifier: Apache-2.0 */
/* message_faults.h - the cases of message_faults.c, for the table in message_cases.c. */
#ifndef TESTS_MESSAGE_FAULTS_H
#define TESTS_MESSAGE_FAULTS_H

#include "message_cases.h"

case_run fault_each_call, fault_diverged, fault_sizes, fault_late, fault_early_leave,
    fault_unfinished, fault_allocations, fault_poison;

#endif
