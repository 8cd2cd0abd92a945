import FoundationEssentials
import Testing

/// A crash point counts only if the code reaches it, the loop aims at it, and the table says what must be true after
/// it.
struct CrashPointTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(checkout)/\(path)", encoding: .utf8)
    }

    /// What stands behind `opening` and before the first character that no name has.
    private static func names(after opening: String, in text: String) -> Set<String> {
        Set(
            text.split(separator: opening, omittingEmptySubsequences: false).dropFirst().map { rest in
                String(rest.prefix { $0.isLetter || $0.isNumber })
            }
        )
    }

    private static var declared: Set<String> {
        get throws { names(after: "    case ", in: try text("Sources/Basics/CrashPoint.swift")) }
    }

    @Test func `every crash point has a name and is passed, and every call names one`() throws {
        let folder = "\(Self.checkout)/Sources"
        var passed: Set<String> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
            passed.formUnion(Self.names(after: "crashPoint(.", in: try Self.text("Sources/\(file)")))
        }
        #expect(try passed == Self.declared)
    }

    @Test func `the crash loop aims at every crash point`() throws {
        let aimed = Self.names(after: "CrashSite(\"", in: try Self.text("Tests/CrashLoop/CrashSite.swift"))
        #expect(try aimed == Self.declared)
    }

    @Test func `the table of crash points says of each what must be true after it`() throws {
        let lines = try Self.text("docs/evidence/crash-points.md").split(separator: "\n").filter {
            $0.hasPrefix("| CP")
        }
        let documented = lines.map { Self.names(after: "`", in: String($0.split(separator: "|")[0])) }
        #expect(try documented.reduce(Set()) { $0.union($1) }.subtracting([""]) == Self.declared)
    }
}
