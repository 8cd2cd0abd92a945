import AppStoreModel
import LedgerTables
import SignedData

extension Normalizer {
    /// A notification, and the transaction, renewal info or app transaction signed inside it.
    ///
    /// A nested payload that cannot be believed is rejected by itself; the notification is loaded without it.
    func addNotification(
        _ jws: SignedText,
        sendAttempts: [JSONElement],
        now: UnixMilliseconds,
        to collector: inout PageCollector
    ) {
        guard var record = believe(jws, as: .notification, now: now, collector: &collector) else { return }
        if record.payload.json["notificationType"]?.isText("REFUND") == true { collector.noteRevocation() }
        let nested = NestedRecords(
            transaction: record.reading.signed["signedTransactionInfo"].flatMap {
                addTransaction(.text($0), now: now, to: &collector)
            },
            renewal: record.reading.signed["signedRenewalInfo"].flatMap {
                addRenewal(.text($0), now: now, to: &collector)
            },
            appTransaction: record.reading.signed["signedAppTransactionInfo"].flatMap {
                believe(.text($0), as: .appTransaction, now: now, collector: &collector)
            }
        )
        record.digestContent(with: nested.places)
        if let appTransaction = nested.appTransaction { collector.noteDrift(of: appTransaction) }
        addSendAttempts(sendAttempts, of: &record, to: &collector)
        collector.noteDrift(of: record)
        let environment = environment(of: record)
        collector.add(
            record.snapshot(of: Tables.notifications) { row in
                for (place, column) in Tables.notifications.columns.enumerated() {
                    if column.name == "payload" {
                        row[place] = .jsonb(nested.payloadJSON(of: record))
                    } else if row[place] == .null {
                        let cell = nested[column.name]
                        row[place] = cell == .null && column.name == "environment" ? environment : cell
                    }
                }
            },
            of: record,
            issues: record.issues + (nested.appTransaction?.issues ?? [])
        )
    }

    /// Of a purchase outside the App Store, which does not name it.
    private func environment(of record: VerifiedRecord) -> Cell {
        let token = record.payload.json["externalPurchaseToken"]
        return token.flatMap(AppIdentity.environment(ofExternalPurchase:)).map { .text($0.rawValue) } ?? .null
    }
}

extension Normalizer {
    /// Attempts of one notification that are kept; Apple makes at most six.
    static let sendAttemptLimit = 100

    /// Apple does not sign them, but they came with a notification that is signed.
    private func addSendAttempts(
        _ attempts: [JSONElement],
        of record: inout VerifiedRecord,
        to collector: inout PageCollector
    ) {
        let path = FieldPath.root.appending("sendAttempts")
        if attempts.count > Self.sendAttemptLimit {
            let found = "found \(attempts.count) attempts; the first \(Self.sendAttemptLimit) are kept"
            record.note(found, at: path)
        }
        for (position, attempt) in attempts.prefix(Self.sendAttemptLimit).enumerated() {
            let place = path.appending(position: position)
            guard attempt.isObject else {
                record.note("found \(ForeignText.description(of: attempt)); it must be an object", at: place)
                continue
            }
            let reading = record.read(attempt, by: .sendAttempt, at: place)
            let date = reading["attempt_date"]
            guard date != .null else {
                record.note("found no usable attemptDate; the attempt is left out", at: place)
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
