extension ObjectShape {
    /// One attempt by Apple to deliver a notification; it is not signed.
    package static let sendAttempt = ObjectShape(
        "SendAttemptItem",
        [
            Field("attemptDate", .moment),
            Field(
                "sendAttemptResult",
                .openText([
                    "SUCCESS", "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE",
                    "UNSUPPORTED_CHARSET", "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
                    "OTHER",
                ])
            ),
        ]
    )
}
