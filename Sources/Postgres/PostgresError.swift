/// What PostgreSQL, or the way to it, refused.
///
/// Holds no parameter and no *detail* line: both quote customer data. The connection string is never quoted either.
package struct PostgresError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// The server answered with an error; `state` says which.
        case server
        /// The session could not be made, or ended before the answer came.
        case connection
        /// No session could be made before the deadline.
        case unreachable
        /// `COMMIT` was sent and its answer never came: the transaction may or may not have happened.
        case outcomeUnknown
        /// libpq cannot read the connection string.
        case unreadableConninfo
        /// The connection string, the environment or a service file asks for less than a verified server.
        case insecureTransport
        /// The server cannot prove who it is, or asks for the password in a form that would give it away.
        case untrustedServer
        /// The server is too old, or its encoding is not UTF-8.
        case unsupportedServer
        /// A text holds U+0000, which PostgreSQL cannot store and libpq would cut at.
        case nulCharacter
        /// A value cannot be sent as the type of its cell.
        case unsendableValue
        /// The server counted other rows than were sent.
        case countMismatch(sent: Int, stored: Int)
        /// A result is not of the shape the caller asked for: a column is missing, NULL, or of another type.
        case unexpectedResult
    }

    package let reason: Reason
    package let state: SQLState
    /// The primary message; at most 2,000 characters, control characters escaped.
    package let message: String
    /// The statement that failed, as written, without its parameters.
    package let statement: String?
    /// The constraint that was violated, where the server names one.
    package let constraint: String?

    init(
        _ reason: Reason,
        _ state: SQLState,
        _ message: some StringProtocol,
        statement: String? = nil,
        constraint: String? = nil
    ) {
        self.reason = reason
        self.state = state
        self.message = printable(message)
        self.statement = statement
        self.constraint = constraint
    }

    /// Whether the session is gone, so that only a new one can go on.
    package var isConnectionLoss: Bool {
        switch reason {
        case .connection, .unreachable, .outcomeUnknown: true
        case .server: state.endsSession
        default: false
        }
    }

    /// Whether the same transaction, begun again, may well succeed on the same session.
    package var isRetryable: Bool {
        let retryable: [SQLState] = [.serializationFailure, .deadlockDetected, .lockNotAvailable, .queryCanceled]
        return reason == .server && retryable.contains(state)
    }

    /// Whether the server refuses who we are (exit 77).
    package var isAuthentication: Bool { state.conditionClass == "28" }

    /// Whether the server's disk is full (exit 74).
    package var isDiskFull: Bool { state == .diskFull }

    /// Whether a `COMMIT` may have happened although no answer came: read back before trying again.
    package var isOutcomeUnknown: Bool { reason == .outcomeUnknown }

    /// Whether no session could be made before the deadline (exit 69).
    package var isUnreachable: Bool { reason == .unreachable }

    /// Whether waiting and connecting again may help: the server is absent, starting, stopping or full.
    var isWorthReconnecting: Bool {
        let isFinal = [.queryCanceled, .readOnlyTransaction].contains(state)
        guard reason == .connection || reason == .server, !isFinal else { return false }
        return state.endsSession || state == .tooManyConnections
    }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        var text = "PostgreSQL: \(message) (SQLSTATE \(state.rawValue))"
        if let statement { text += ", in: \(printable(statement, limit: 300))" }
        return text
    }
}

extension SQLState {
    /// Whether no later statement can succeed on a session that met this state.
    var endsSession: Bool {
        let endings: [SQLState] = [
            .adminShutdown, .crashShutdown, .cannotConnectNow, .idleSessionTimeout, .idleInTransactionTimeout,
            // The server has become a standby; a new session may find the primary that took its place.
            .readOnlyTransaction,
        ]
        return conditionClass == "08" || endings.contains(self)
    }
}

/// Makes `text` safe to print on a terminal: control characters become `\u{…}`, the rest past `limit` becomes `…`.
func printable(_ text: some StringProtocol, limit: Int = 2_000) -> String {
    var printed = ""
    var length = 0
    for scalar in text.unicodeScalars {
        guard length < limit else { return printed + "…" }
        if scalar.properties.generalCategory == .control {
            printed += scalar.escaped(asASCII: true)
        } else {
            printed.unicodeScalars.append(scalar)
        }
        length += 1
    }
    return printed
}
