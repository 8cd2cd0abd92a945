import FoundationEssentials
import FuzzTargets
import Testing

/// Every stored input, without the fuzzer: the seeds, and what once broke something.
struct ReplayTests {
    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func inputs(in folder: String, of target: FuzzTarget) -> [String] {
        let path = Self.folder.appending(path: "\(folder)/\(target.name)").path
        // A target that never broke has no folder of crashes.
        return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted().map { "\(path)/\($0)" }
    }

    @Test(arguments: FuzzTarget.all)
    func `every seed of the corpus and every crash that was found keeps the promises of its target`(
        _ target: FuzzTarget
    ) throws {
        let seeds = Self.inputs(in: "Corpora", of: target)
        #expect(!seeds.isEmpty)
        for path in seeds + Self.inputs(in: "Crashes", of: target) {
            let input = [UInt8](try Data(contentsOf: URL(filePath: path)))
            #expect(throws: Never.self, "\(path)") { try target.check(input) }
            // What is cut off in the middle is the commonest damage of all.
            for length in stride(from: 0, to: min(input.count, target.longestInput), by: max(1, input.count / 16)) {
                #expect(throws: Never.self, "the first \(length) bytes of \(path)") {
                    try target.check(Array(input.prefix(length)))
                }
            }
        }
    }

    @Test
    func `folders of inputs are named after targets`() throws {
        let names = FuzzTarget.all.map(\.name)
        for folder in ["Corpora", "Crashes", "Dictionaries"] {
            let path = Self.folder.appending(path: folder).path
            let found = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            let strangers = found.filter { !names.contains(String($0.prefix { $0 != "." })) }
            #expect(strangers == [], "\(folder)")
        }
    }
}
