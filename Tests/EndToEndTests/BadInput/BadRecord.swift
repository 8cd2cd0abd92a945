import Testing

/// A record that Apple would not send, and what happens to it.
struct BadRecord: Sendable {
    /// The row of docs/evidence/bad-inputs.md that it is a variant of.
    let id: String
    let note: String
    /// What `rejected_records` gives as the reason; `nil` when the record is loaded.
    let reason: String?
    /// Transactions that the page loads in addition to its good one.
    let loaded: Int
    /// Paths in `field_issues`.
    let issues: [String]
    /// What must be true of the record's row, as SQL.
    let row: String
    /// The page's elements after the good record, as JSON texts.
    let elements: @Sendable (RecordScene) throws -> [String]

    static func rejected(
        _ id: String,
        _ note: String,
        _ reason: String,
        _ jws: @escaping @Sendable (RecordScene) throws -> String
    ) -> BadRecord {
        BadRecord(id: id, note: note, reason: reason, loaded: 0, issues: [], row: "true") { [quoted(try jws($0))] }
    }

    /// Rejected after others of the page were loaded.
    static func rejected(
        _ id: String,
        _ note: String,
        _ reason: String,
        after first: @escaping @Sendable (RecordScene) throws -> String,
        _ jws: @escaping @Sendable (RecordScene) throws -> String
    ) -> BadRecord {
        BadRecord(id: id, note: note, reason: reason, loaded: 1, issues: [], row: "true") {
            [quoted(try first($0)), quoted(try jws($0))]
        }
    }

    static func loaded(
        _ id: String,
        _ note: String,
        issues: [String] = [],
        further: Int = 1,
        row: String = "true",
        _ jws: @escaping @Sendable (RecordScene) throws -> String
    ) -> BadRecord {
        BadRecord(id: id, note: note, reason: nil, loaded: further, issues: issues, row: row) {
            [quoted(try jws($0))]
        }
    }

    /// Elements of any kind.
    static func elements(
        _ id: String,
        _ note: String,
        reason: String? = nil,
        loaded: Int = 0,
        row: String = "true",
        _ texts: @escaping @Sendable (RecordScene) throws -> [String]
    ) -> BadRecord {
        BadRecord(id: id, note: note, reason: reason, loaded: loaded, issues: [], row: row, elements: texts)
    }

    /// A JSON string; also of characters that JSON asks to escape.
    static func quoted(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<" ": quoted += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return "\"\(quoted)\""
    }
}

/// Cases that one run can meet without ending because too much fails: fewer than twenty.
struct BadRecordGroup: CustomTestStringConvertible, Sendable {
    let cases: [BadRecord]

    var testDescription: String {
        var ids: [String] = []
        for id in cases.map(\.id) where ids.last != id { ids.append(id) }
        return ids.joined(separator: " ")
    }

    static let all: [BadRecordGroup] = {
        let cases =
            BadRecord.headers + BadRecord.chains + BadRecord.claims + BadRecord.signatures + BadRecord.texts
            + BadRecord.payloads + BadRecord.fields + BadRecord.pages
        return stride(from: 0, to: cases.count, by: 19).map {
            BadRecordGroup(cases: Array(cases[$0..<min($0 + 19, cases.count)]))
        }
    }()
}
