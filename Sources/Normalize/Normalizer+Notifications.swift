import AppStoreModel
import LedgerSchema
import Postgres
import SignedData
import StrictJSON

extension Normalizer {
    /// Adds a notification, and the transaction, renewal info or app transaction signed inside it.
    static func addNotification(
        _ verified: VerifiedRecord,
        sendAttempts: [JSONElement],
        to collector: inout PageCollector
    ) {
        var record = archivedRecord(verified, in: &collector)
        if record.payload.json["notificationType"]?.isText("REFUND") == true { collector.noteRevocation() }
        let nested = NestedRecords(
            transaction: verified.nested["signedTransactionInfo"].map { addTransaction($0, to: &collector) },
            renewal: verified.nested["signedRenewalInfo"].map { addRenewal($0, to: &collector) },
            appTransaction: verified.nested["signedAppTransactionInfo"].map { addAppTransaction($0, to: &collector) }
        )
        addSendAttempts(sendAttempts, of: &record, to: &collector)
        collector.noteDrift(of: record)
        let environment = environment(of: record)
        collector.add(
            record.snapshot(of: Tables.notifications) { row in
                for (index, column) in Tables.notifications.columns.enumerated() {
                    if column.name == "payload" {
                        row[index] = .jsonb(nested.payloadJSON(of: record))
                    } else if row[index] == .null {
                        let cell = nested[column.name]
                        row[index] = cell == .null && column.name == "environment" ? environment : cell
                    }
                }
            },
            of: record,
            issues: record.issues
        )
    }

    /// The environment of a purchase outside the App Store, whose notification has no field for it.
    private static func environment(of record: MappedRecord) -> Cell {
        let token = record.payload.json["externalPurchaseToken"]
        return token.flatMap(AppIdentity.environment(ofExternalPurchase:)).map { .text($0.rawValue) } ?? .null
    }
}

extension Normalizer {
    /// The most delivery attempts kept for one notification; Apple makes at most six.
    static let sendAttemptLimit = 100

    /// Apple does not sign the attempts, but they came with a signed notification.
    private static func addSendAttempts(
        _ attempts: [JSONElement],
        of record: inout MappedRecord,
        to collector: inout PageCollector
    ) {
        let path = FieldPath.root.appending("sendAttempts")
        if attempts.count > sendAttemptLimit {
            let found = "found \(attempts.count) attempts; the first \(sendAttemptLimit) are kept"
            record.note(found, at: path)
        }
        for (position, attempt) in attempts.prefix(sendAttemptLimit).enumerated() {
            let attemptPath = path.appending(position: position)
            guard attempt.isObject else {
                record.note("found \(ForeignText.description(of: attempt)); it must be an object", at: attemptPath)
                continue
            }
            let reading = record.read(attempt, by: .sendAttempt, at: attemptPath)
            let date = reading["attempt_date"]
            guard date != .null else {
                record.note("found no usable attemptDate; the attempt is left out", at: attemptPath)
                continue
            }
            let uuid = Cell.text(record.key)
            collector.addSendAttempt(
                reading.row(of: Tables.notificationSendAttempts, [("notification_uuid", uuid)]),
                key: [uuid, date]
            )
        }
    }
}
