import Basics
import FoundationEssentials
import Pipeline
import Testing

private let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/reference/exit-codes.md").path

struct ExitStatusTests {
    @Test func `docs/reference/exit-codes.md lists every exit code, and no other`() throws {
        let text = try String(contentsOfFile: page, encoding: .utf8)
        var listed: [Int32] = []
        for line in text.split(separator: "\n") {
            // A row of the table of exit codes: `| 73 / 74 | … |`, whose first cell has numbers alone.
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count >= 4 else { continue }
            let words = cells[1].split { " /`,".contains($0) }
            let numbers = words.compactMap { Int32($0) }
            if !numbers.isEmpty, numbers.count == words.count { listed += numbers }
        }
        #expect(listed.sorted() == ExitStatus.allCases.map(\.rawValue).sorted())
    }
}
