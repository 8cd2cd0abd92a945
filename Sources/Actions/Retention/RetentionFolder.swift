import ActionKinds
import Basics
import CSVFormat
import JobSyntax

/// The files of a folder with retention messages, as text.
///
/// `messages.csv` and `defaults.csv` must exist, also if they have only a header; `delete.csv` names what is deleted.
package struct RetentionFolder: Sendable {
    /// One row of a file.
    struct Line: Sendable {
        let file: String
        let number: Int
        private let cells: [String: String]

        init(_ cells: [String: String], of file: String, line: Int) {
            self.cells = cells
            self.file = file
            number = line
        }

        /// `nil` for an empty cell and for a column that the file does not have.
        subscript(column: String) -> String? { cells[column].flatMap { $0.isEmpty ? nil : $0 } }

        /// A sentence that names file and line.
        func sentence(_ text: String) -> String { "\(file), line \(number): \(text)" }
    }

    let directory: String
    let messages: [Line]
    let defaults: [Line]
    let deletions: [Line]

    /// - Throws: ``ActionInputError``.
    package init(path: String) throws {
        directory = path
        messages = try Self.lines(
            of: "messages.csv",
            in: path,
            columns: ["message_id", "header", "body"],
            optional: ["header_position", "image_id", "image_file", "alt_text", "bullet_points"]
        )
        defaults = try Self.lines(of: "defaults.csv", in: path, columns: ["product_id", "locale", "message_id"])
        do {
            deletions = try Self.lines(
                of: "delete.csv",
                in: path,
                columns: ["kind"],
                optional: ["id", "product_id", "locale"]
            )
        } catch ActionInputError.unreadable(.missingFile) {
            deletions = []
        }
        if messages.isEmpty, defaults.isEmpty, deletions.isEmpty { throw ActionInputError.noRows(input: path) }
    }

    private static func lines(
        of file: String,
        in directory: String,
        columns: [String],
        optional: [String] = []
    ) throws -> [Line] {
        let path = JobPaths.joined(directory, file)
        var header: [String]?
        var lines: [Line] = []
        do {
            try CSVReader(path: path).forEachRecord { record in
                let cells = (0..<record.count).map { InputFeed.trimmed(record.text($0)) }
                guard let names = header else {
                    try check(cells, of: path, columns, optional)
                    header = cells
                    return
                }
                guard cells.count <= names.count else {
                    throw CSVError.tooManyCells(
                        path: path,
                        line: record.line,
                        found: cells.count,
                        expected: names.count
                    )
                }
                let named = Dictionary(zip(names, cells)) { first, _ in first }
                lines.append(Line(named, of: file, line: record.line))
            }
        } catch let error as CSVError {
            throw ActionInputError.unreadable(error)
        }
        guard header != nil else { throw ActionInputError.unreadable(.noRecord(path: path)) }
        return lines
    }

    private static func check(_ names: [String], of path: String, _ columns: [String], _ optional: [String]) throws {
        let known = columns + optional
        for name in known where names.count(where: { $0 == name }) > 1 {
            throw CSVError.ambiguousColumn(path: path, name: name)
        }
        if let missing = columns.first(where: { !names.contains($0) }) {
            throw ActionInputError.missingColumn(input: path, column: missing, found: names)
        }
        for name in names where !known.contains(name) {
            if let column = nearest(to: name, among: known.filter { !names.contains($0) }) {
                throw ActionInputError.unknownColumn(input: path, column: name, nearest: column)
            }
        }
    }
}
