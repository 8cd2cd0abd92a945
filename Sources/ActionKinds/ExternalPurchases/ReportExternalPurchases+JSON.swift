package import StrictJSON

/// Reports as JSON: the members of Apple's ExternalPurchaseReport, without `requestIdentifier`, which the plan makes.
extension ReportExternalPurchases {
    /// Why a report cannot be read, as a sentence.
    package struct UnreadableReport: Error, Equatable, Sendable {
        package let sentence: String

        package init(sentence: String) { self.sentence = sentence }
    }

    /// The rows of a report: one for each line item, or one for a report without any.
    ///
    /// - Returns: The cells of each row, in the order of ``columns``.
    package static func rows(of report: JSONObject) throws(UnreadableReport) -> [[String]] {
        let lines: [JSONObject?]
        switch report["lineItems"] {
        case nil, .null: lines = [nil]
        case .array(let items) where !items.isEmpty && items.allSatisfy({ $0.object != nil }):
            lines = items.map(\.object)
        default: throw UnreadableReport(sentence: "lineItems must be a list of at least one line item")
        }
        let ofReport = try cells(of: report, reportColumns, except: "lineItems")
        var rows: [[String]] = []
        for line in lines {
            let ofLine = try line.map { line throws(UnreadableReport) in
                try cells(of: line, ExternalPurchaseLine.columns)
            }
            rows.append(ofReport + (ofLine ?? ExternalPurchaseLine.columns.map { _ in "" }))
        }
        return rows
    }

    private static func cells(
        of object: JSONObject,
        _ columns: [ActionColumn],
        except other: String? = nil
    ) throws(UnreadableReport) -> [String] {
        let known = columns.map(\.key)
        if let unknown = object.members.first(where: { $0.key != other && !known.contains($0.key) }) {
            let remedy = unknown.key == "requestIdentifier" ? "remove it, because the plan makes it" : "it is not known"
            throw UnreadableReport(sentence: "\(unknown.key): \(remedy)")
        }
        var cells: [String] = []
        for key in known {
            switch object[key] {
            case nil, .null: cells.append("")
            case .string(let text): cells.append(text)
            case .number(let number): cells.append(number.text)
            case .bool(let flag): cells.append(flag ? "true" : "false")
            case .array, .object: throw UnreadableReport(sentence: "\(key) must be a text, a number, true or false")
            }
        }
        return cells
    }
}
