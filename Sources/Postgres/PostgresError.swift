import Basics

/// An error of PostgreSQL or of the connection to it.
///
/// It contains no parameter and no *detail* line, which can quote customer data, and never the connection string.
package struct PostgresError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// The server reported an error; see `state`.
        case server
        /// The session could not be opened, or it ended before the answer came.
        case connection
        /// No session could be opened before the deadline.
        case unreachable
        /// The answer to `COMMIT` was lost: the transaction may or may not be committed.
        case outcomeUnknown
        /// libpq cannot read the connection string.
        case unreadableConninfo
        /// The connection string, the environment or a service file allows a server that is not verified.
        case insecureTransport
        /// TLS cannot verify the server, or the server asks for the password in a form that reveals it.
        case untrustedServer
        /// The server is too old, or its encoding is not UTF-8.
        case unsupportedServer
        /// A connection pooler gives the statements of one connection different sessions, or connections the same one.
        case sharedSession
        /// A text contains U+0000, which PostgreSQL cannot store and which ends a C string.
        case nulCharacter
        /// A value cannot be sent as the type of its cell.
        case unsendableValue
        /// The server stored another number of rows than was sent.
        case countMismatch(sent: Int, stored: Int)
        /// A column of the result is missing, NULL, or of another type.
        case unexpectedResult
    }

    package let reason: Reason
    package let state: SQLState
    /// The primary message on one line; at most 2,000 characters, control characters escaped.
    package let message: String
    /// The SQL text of the failed statement, without parameters.
    package let statement: String?
    /// The violated constraint, when the server reports one.
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
        self.message = printable(onOneLine(message))
        self.statement = statement
        self.constraint = constraint
    }

    /// Whether the session has ended and a new one is needed.
    package var isConnectionLoss: Bool {
        switch reason {
        case .connection, .unreachable, .outcomeUnknown: true
        case .server: state.endsSession
        default: false
        }
    }

    /// Whether repeating the transaction on the same session can succeed.
    package var isRetryable: Bool {
        let retryable: [SQLState] = [.serializationFailure, .deadlockDetected, .lockNotAvailable, .queryCanceled]
        return reason == .server && retryable.contains(state)
    }

    /// Whether a replica ended the statement, because changes of the primary had to be applied that remove what it was reading.
    package var isRecoveryConflict: Bool {
        // A serialization failure by its code; only the message distinguishes the two.
        state == .serializationFailure && message.contains("conflict with recovery")
    }

    /// Whether the server refuses the credentials (exit 77).
    package var isAuthentication: Bool { state.conditionClass == "28" }

    /// Whether the server's disk is full (exit 74).
    package var isDiskFull: Bool { state == .diskFull }

    /// Whether a `COMMIT` may have succeeded without an answer: read back before repeating it.
    package var isOutcomeUnknown: Bool { reason == .outcomeUnknown }

    /// Whether no session could be opened before the deadline (exit 69).
    package var isUnreachable: Bool { reason == .unreachable }

    /// Whether connecting again later can help: the server is unreachable, starting, stopping, or has no free connection.
    var isWorthReconnecting: Bool {
        let isFinal = [.queryCanceled, .readOnlyTransaction].contains(state)
        guard reason == .connection || reason == .server, !isFinal else { return false }
        return state.endsSession || state == .tooManyConnections
    }
}

/// A text of several lines on one line, with one space between two words.
///
/// libpq and the server wrap and indent long messages. Only the beginning is read: more is never shown.
private func onOneLine(_ text: some StringProtocol) -> String {
    let text = String(String.UnicodeScalarView(text.unicodeScalars.prefix(10_000)))
    guard text.contains(where: { $0.isNewline || $0 == "\t" }) else { return text }
    return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        var text = "PostgreSQL: \(message) (SQLSTATE \(state.rawValue))"
        if let statement { text += ", in: \(printable(statement, limit: 300))" }
        return text
    }
}

extension SQLState {
    /// Whether no later statement can succeed on a session after this state.
    var endsSession: Bool {
        let endings: [SQLState] = [
            .adminShutdown, .crashShutdown, .cannotConnectNow, .idleSessionTimeout, .idleInTransactionTimeout,
            // The server has become a standby; a new session can reach the new primary.
            .readOnlyTransaction,
        ]
        return conditionClass == "08" || endings.contains(self)
    }
}
