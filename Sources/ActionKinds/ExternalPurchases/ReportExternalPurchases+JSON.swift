import Basics
package import StrictJSON

/// Reports as JSON: the members of Apple's ExternalPurchaseReport, without `requestIdentifier`, which the plan makes.
extension ReportExternalPurchases {
    /// Why a report cannot be read.
    package struct UnreadableReport: Error, Equatable, Sendable {
        package let sentence: String
        /// The token and the status, if they can be read: the other rows of the token are held back, too.
        package let cells: [String]

        package init(_ sentence: String, of report: JSONObject? = nil) {
            self.sentence = sentence
            cells = reportColumns.map { report?[$0.key]?.string ?? "" }
        }
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
        default: throw UnreadableReport("lineItems must be a list of at least one line item", of: report)
        }
        do throws(UnreadableMember) {
            let ofReport = try cells(of: report, reportColumns, also: ["lineItems"])
            var rows: [[String]] = []
            for (number, line) in lines.enumerated() {
                let place = " of line item \(number + 1)"
                rows.append(
                    ofReport + (try cells(of: line ?? JSONObject(), ExternalPurchaseLine.columns, place: place))
                )
            }
            return rows
        } catch {
            throw UnreadableReport(error.sentence, of: report)
        }
    }

    private struct UnreadableMember: Error { let sentence: String }

    private static func cells(
        of object: JSONObject,
        _ columns: [ActionColumn],
        also others: [String] = [],
        place: String = ""
    ) throws(UnreadableMember) -> [String] {
        let known = columns.map(\.key)
        if let unknown = object.members.map(\.key).first(where: { !(known + others).contains($0) }) {
            let isID = unknown == "requestIdentifier"
            let fault = isID ? "must not be given: the plan makes it" : "is not a member that Apple documents"
            throw UnreadableMember(sentence: "\(printable(unknown, limit: 64))\(place) \(fault)")
        }
        var cells: [String] = []
        for key in known {
            switch object[key] {
            case nil, .null: cells.append("")
            case .string(let text): cells.append(text)
            case .number(let number): cells.append(number.text)
            case .bool(let flag): cells.append(flag ? "true" : "false")
            case .array, .object:
                throw UnreadableMember(sentence: "\(key)\(place) must be a string, a number, true or false")
            }
        }
        return cells
    }
}
