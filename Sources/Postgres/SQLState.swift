/// PostgreSQL's code of an error: five characters.
///
/// A caller can write `catch SQLState.uniqueViolation`. Source: PostgreSQL manual, appendix "PostgreSQL Error Codes".
package struct SQLState: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The first two characters, which say what kind of condition it is.
    package var conditionClass: Substring { rawValue.prefix(2) }

    /// Whether the SQL text is wrong: its syntax, or a name in it.
    package var isOfSQLText: Bool { conditionClass == "42" && self != .insufficientPrivilege }

    package static let successfulCompletion = Self(rawValue: "00000")
    package static let cannotConnect = Self(rawValue: "08001")
    package static let connectionFailure = Self(rawValue: "08006")
    package static let transactionResolutionUnknown = Self(rawValue: "08007")
    package static let protocolViolation = Self(rawValue: "08P01")
    package static let featureNotSupported = Self(rawValue: "0A000")
    package static let dataException = Self(rawValue: "22000")
    package static let datetimeFieldOverflow = Self(rawValue: "22008")
    package static let divisionByZero = Self(rawValue: "22012")
    package static let characterNotInRepertoire = Self(rawValue: "22021")
    package static let notNullViolation = Self(rawValue: "23502")
    package static let foreignKeyViolation = Self(rawValue: "23503")
    package static let uniqueViolation = Self(rawValue: "23505")
    package static let checkViolation = Self(rawValue: "23514")
    package static let readOnlyTransaction = Self(rawValue: "25006")
    package static let inFailedTransaction = Self(rawValue: "25P02")
    package static let idleInTransactionTimeout = Self(rawValue: "25P03")
    package static let invalidStatementName = Self(rawValue: "26000")
    package static let invalidAuthorization = Self(rawValue: "28000")
    package static let invalidPassword = Self(rawValue: "28P01")
    package static let invalidCatalogName = Self(rawValue: "3D000")
    package static let invalidSchemaName = Self(rawValue: "3F000")
    package static let serializationFailure = Self(rawValue: "40001")
    package static let deadlockDetected = Self(rawValue: "40P01")
    package static let insufficientPrivilege = Self(rawValue: "42501")
    package static let syntaxError = Self(rawValue: "42601")
    package static let invalidName = Self(rawValue: "42602")
    package static let undefinedFunction = Self(rawValue: "42883")
    package static let undefinedColumn = Self(rawValue: "42703")
    package static let undefinedTable = Self(rawValue: "42P01")
    package static let duplicateSchema = Self(rawValue: "42P06")
    package static let duplicateTable = Self(rawValue: "42P07")
    package static let undefinedObject = Self(rawValue: "42704")
    package static let duplicateObject = Self(rawValue: "42710")
    package static let duplicatePreparedStatement = Self(rawValue: "42P05")
    package static let diskFull = Self(rawValue: "53100")
    package static let tooManyConnections = Self(rawValue: "53300")
    package static let objectNotInPrerequisiteState = Self(rawValue: "55000")
    package static let lockNotAvailable = Self(rawValue: "55P03")
    package static let queryCanceled = Self(rawValue: "57014")
    package static let adminShutdown = Self(rawValue: "57P01")
    package static let crashShutdown = Self(rawValue: "57P02")
    package static let cannotConnectNow = Self(rawValue: "57P03")
    package static let idleSessionTimeout = Self(rawValue: "57P05")
    /// The function `refuse_input` of the ledger was called.
    package static let refusedInput = Self(rawValue: "SL001")
    /// A row of a batch was sent by another batch after the plan; raised when the batch is approved.
    package static let overtakenBatch = Self(rawValue: "SL002")
    package static let raisedException = Self(rawValue: "P0001")
    package static let internalError = Self(rawValue: "XX000")
}

/// Lets a caller write `catch SQLState.uniqueViolation`.
package func ~= (state: SQLState, error: any Error) -> Bool {
    (error as? PostgresError)?.state == state
}
