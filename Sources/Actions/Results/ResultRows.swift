import ActionKinds
import AppStoreModel
package import JobFiles
import LedgerSchema
package import Postgres
import StrictJSON

/// One row of a result file.
package struct ResultRow: Sendable {
    /// The kept cells of the input.
    package let input: [String]
    package let position: Int64
    package let state: RowState
    /// Why the row was not sent, or what is known of it; empty for a success.
    package let reason: String
    package let requestID: String?
    package let httpStatus: Int64?
    package let appleCode: Int64?
    package let appleMessage: String?
    package let confirmedBy: String?
    package let sentAt: String?
    package let endedAt: String?
    package let answer: String?
    /// The values of ``ActionLedger/resultColumns``.
    package let members: [String?]
}

extension ActionLedger {
    /// The columns that the results of the job's action have in addition to ``ResultColumns``.
    package var resultColumns: [String] { job.action.resultColumns.map(\.column) }

    /// Rows that are read at a time.
    private static let resultBatch: Int64 = 2_000

    /// Reads the rows of one result file, in the order of the input.
    ///
    /// - Parameters:
    ///   - position: The position after which the rows begin; 0 for the first.
    ///   - connection: In the snapshot of all files.
    /// - Returns: At most a few thousand rows; none at the end.
    /// - Throws: ``Postgres/PostgresError``.
    package func resultRows(
        of file: ActionResultFile,
        in batch: ActionBatch,
        after position: Int64,
        on connection: borrowing PostgresConnection
    ) throws -> [ResultRow] {
        let states = RowState.allCases.filter { $0.file == file }.map(\.rawValue)
        let rows = try connection.run(
            job.action.groupsRows ? .resultInputRows : .resultRows,
            [
                "app": .integer(app.rawValue), "batch": .uuid(batch.id), "states": .textArray(states),
                "after": .bigint(position), "count": .bigint(Self.resultBatch),
            ]
        )
        return try rows.map { row in
            let state = RowState(rawValue: try row.text("state")) ?? .unknown
            let appleCode = try row.int64OrNil("apple_code")
            let answer = try row.textOrNil("answer")
            let kept = answer.flatMap { try? StrictJSON.parseObject(Array($0.utf8)) }
            return ResultRow(
                input: try row.textArray("input"),
                position: try row.int64("position"),
                state: state,
                reason: try row.textOrNil("reason") ?? state.reason(appleCode.flatMap(appleName)),
                requestID: try row.textOrNil("request_id"),
                httpStatus: try row.int64OrNil("http_status"),
                appleCode: appleCode,
                appleMessage: try row.textOrNil("apple_message"),
                confirmedBy: try row.textOrNil("confirmed_by"),
                sentAt: try row.textOrNil("sent_at"),
                endedAt: try row.textOrNil("ended_at"),
                answer: answer,
                members: job.action.resultColumns.map { kept?[$0.member]?.string }
            )
        }
    }

    /// Apple's name of an error; `nil` for a code that Apple does not document.
    private func appleName(of code: Int64) -> String? {
        if job.action.groupsRows { return ExternalPurchaseError(rawValue: code)?.objectName }
        guard let code = AppleErrorCode(rawValue: code) else { return nil }
        return job.action is any AdvancedCommerceAction.Type ? code.advancedCommerceName : code.objectName
    }
}

extension RowState {
    /// Why a valid row is in its file.
    ///
    /// - Parameter error: Apple's name of the error in the last answer.
    /// - Returns: A sentence; empty for a success.
    fileprivate func reason(_ error: String?) -> String {
        switch self {
        case .planned: "not sent: the batch is not approved"
        case .approved: "not sent yet"
        case .notApplied: "sent, and Apple's data shows that it was not applied"
        case .skipped: "sorted out by the plan"
        case .cancelled: "the customer was erased, or the job removed, before the row was sent"
        case .sending, .unknown, .confirming: "sent, and it is not known whether Apple applied it"
        case .rejected: "Apple refused it" + (error.map { ": \($0)" } ?? "")
        case .succeeded: ""
        }
    }
}
