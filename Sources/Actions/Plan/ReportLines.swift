import ActionKinds
import AppStoreModel
import Basics
import CSVFormat
import JobFiles
import StrictJSON

/// A file with external purchase reports as JSON Lines: each line has rows of one report, and lines with one token make one report.
struct ReportLines {
    let path: String

    /// Calls `body` for each line that is not blank, with the cells of its rows, or with the reason why it has none.
    ///
    /// - Throws: ``CSVFormat/CSVError`` for a file that cannot be read, the errors of `body`.
    func forEachReport(
        _ body: (_ line: Int, Result<[[String]], ReportExternalPurchases.UnreadableReport>) throws -> Void
    ) throws {
        let file = try InputFile(path: path)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var line: [UInt8] = []
        var number = 1
        func endLine() throws {
            if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if !Blanks.trimmed(line[...]).isEmpty { try body(number, rows(of: line)) }
            line.removeAll(keepingCapacity: true)
            number += 1
        }
        while true {
            let length = try file.fill(&chunk)
            guard length > 0 else { break }
            for piece in chunk[..<length].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .enumerated()
            {
                if piece.offset > 0 { try endLine() }
                // A longer line is refused by its length, so the rest of it is not kept.
                if line.count <= ExternalPurchaseReport.sizeLimit { line += piece.element }
            }
        }
        if !line.isEmpty { try endLine() }
    }

    private func rows(of line: [UInt8]) -> Result<[[String]], ReportExternalPurchases.UnreadableReport> {
        do throws(StrictJSONError) {
            let report = try StrictJSON.parseObject(line, sizeLimit: ExternalPurchaseReport.sizeLimit)
            return Result { () throws(ReportExternalPurchases.UnreadableReport) in
                try ReportExternalPurchases.rows(of: report)
            }
        } catch {
            return .failure(.init("\(error)"))
        }
    }
}

extension InputFeed {
    /// Reads a file of reports; needs no database.
    ///
    /// A line that cannot be read is an invalid row.
    static func readReports(
        _ path: String,
        for job: ActionJob,
        _ take: ([InputRow]) throws -> Void
    ) throws -> [String] {
        let header = try InputHeader(job.action.columns.map(\.name), of: path, for: job)
        var rows: [InputRow] = []
        var position: Int64 = 0
        func add(_ line: Int, _ cells: [String], _ problem: String? = nil) throws {
            position += 1
            var row = header.row(position, line: line, cells.map(trimmed))
            if let problem { row.problem = ("unreadable_report", problem) }
            rows.append(row)
            guard rows.count == batch else { return }
            try take(rows)
            rows.removeAll(keepingCapacity: true)
        }
        do {
            try ReportLines(path: path).forEachReport { line, report in
                switch report {
                case .success(let lines): for cells in lines { try add(line, cells) }
                case .failure(let unreadable): try add(line, unreadable.cells, unreadable.sentence)
                }
            }
        } catch let error as CSVError {
            throw ActionInputError.unreadable(error)
        }
        if !rows.isEmpty { try take(rows) }
        guard position > 0 else { throw ActionInputError.noRows(input: path) }
        return header.columns
    }
}
