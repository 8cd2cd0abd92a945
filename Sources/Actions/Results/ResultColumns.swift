/// The columns that result files have in addition to the input's columns.
package enum ResultColumns {
    package static let all = [
        "outcome_position", "outcome", "outcome_reason", "outcome_request_id", "outcome_http_status",
        "outcome_apple_code", "outcome_apple_message", "outcome_confirmed_by", "outcome_sent_at", "outcome_ended_at",
        "outcome_answer",
    ]
}
