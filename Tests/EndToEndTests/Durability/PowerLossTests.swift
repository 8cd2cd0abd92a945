import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// What a power failure leaves of a CSV publication.
@Suite(.migratedDatabase)
struct PowerLossTests {
    private static let strace = "/usr/bin/strace"

    @Test(.enabled("strace is not installed") { FileManager.default.isExecutableFile(atPath: strace) })
    func `a publication makes, writes, synchronises, renames, and puts the manifest last`() async throws {
        try await Publisher.with { publisher in
            for isFirst in [false, true] {
                if isFirst { try FileManager.default.removeItem(atPath: publisher.directory) }
                let log = publisher.stage.directory + "/strace"
                let arguments = [
                    "-f", "-y", "-s", "0", "-o", log,
                    "-e", "trace=openat,write,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdirat",
                    Executables.storeledger, "export", publisher.job,
                ]
                let code = try await withChildProcess(
                    Self.strace,
                    arguments,
                    environment: ["DATABASE_URL": publisher.stage.databaseURL()]
                ) { await $0.wait() }
                #expect(code == 0)
                let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
                let operations = FileOperation.read(strace: text, directory: publisher.directory)
                let renames = operations.compactMap { if case .rename(_, let name) = $0 { name } else { nil } }
                #expect(renames == Publisher.tables.map { "\($0).csv" } + ["manifest.json"])
                let complaints = FileOperation.complaints(about: operations)
                if isFirst {
                    // Nothing to remove; but the new folder itself must survive.
                    #expect(complaints == ["the old manifest is not gone before the first file takes its place"])
                    let parent = publisher.stage.store.directory
                    let name = publisher.directory.dropFirst(parent.count + 1)
                    let made = try #require(text.firstRange(of: "<\(parent)>, \"\(name)\", 0700) = 0"))
                    #expect(text[made.upperBound...].contains("<\(parent)>) = 0"))
                } else {
                    #expect(complaints == [])
                }
            }
        }
    }

    /// A mistake in the order, as one could make it.
    struct Mutant: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let change: @Sendable (inout [FileOperation]) -> Void
    }

    static let mutants = [
        Mutant(testDescription: "files take their places before they are on disk") { operations in
            operations.removeAll { $0 == .synchronize(".transactions.csv.storeledger-tmp") }
            let place = operations.rename(to: "transactions.csv") + 1
            operations.insert(.synchronize("transactions.csv"), at: place)
        },
        Mutant(testDescription: "files are never brought to disk") { operations in
            operations.removeAll { if case .synchronize = $0 { true } else { false } }
        },
        Mutant(testDescription: "the manifest comes first") { operations in
            let rename = operations.remove(at: operations.rename(to: "manifest.json"))
            operations.insert(rename, at: operations.rename(to: "transactions.csv"))
        },
        Mutant(testDescription: "the directory is not synchronised before the manifest") { operations in
            operations.remove(at: operations.rename(to: "manifest.json") - 1)
        },
        Mutant(testDescription: "the old manifest stays") { operations in
            operations.removeAll { $0 == .remove("manifest.json") }
        },
        Mutant(testDescription: "the removal of the old manifest is not made sure of") { operations in
            operations.remove(at: operations.rename(to: "transactions.csv") - 1)
        },
        Mutant(testDescription: "the directory is not synchronised at the end") { operations in
            operations.removeLast()
        },
    ]

    @Test(.enabled(Comment(rawValue: Shim.missing)) { await PublicationShim.isPossible })
    func `after a power failure at any moment there is no manifest, or it names complete files`() async throws {
        try await Publisher.with { publisher in
            let before = try publisher.files()
            let export = try await publisher.export()
            #expect(export.outcome.code == 0, "\(export.outcome.errors)")
            let after = try publisher.files()
            #expect(before.keys.sorted() == after.keys.sorted())
            #expect(before["transactions.csv"] != after["transactions.csv"])
            #expect(FileOperation.complaints(about: export.operations) == [])
            let reader = try await publisher.reader(of: [before, after])

            let states = CrashStates(of: export.operations, before: before, after: after)
            let failures = try complaints(about: states, reader, after: after)
            expectNone(failures)
            #expect(states.states.count > 60)
            let sizes = "\(export.operations.count) operations, \(states.states.count) states"
            print("power loss: \(sizes), \(failures.count) of them bad")

            for mutant in Self.mutants {
                var operations = export.operations
                mutant.change(&operations)
                try #require(operations != export.operations, "\(mutant.testDescription)")
                #expect(!FileOperation.complaints(about: operations).isEmpty, "\(mutant.testDescription)")
                let states = CrashStates(of: operations, before: before, after: after)
                let failure = try complaints(about: states, reader, after: after, atMost: 1).first
                #expect(failure != nil, "\(mutant.testDescription)")
                print("power loss, when \(mutant.testDescription): \(failure ?? "nothing happens")")
            }
        }
    }

    /// Makes each state as a real directory and reads it as a consumer would.
    private func complaints(
        about states: CrashStates,
        _ reader: PublicationReader,
        after: [String: Data],
        atMost limit: Int = .max
    ) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "storeledger-states-\(UUID().uuidString)")
            .path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer {
            try? FileManager.default.removeItem(atPath: folder)  // what stays in the temporary directory fails no test
        }
        for (number, bytes) in states.contents.enumerated() {
            try bytes.write(to: URL(filePath: "\(folder)/\(number)"))
        }
        var complaints: [String] = []
        for state in states.states where complaints.count < limit {
            let directory = folder + "/state"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            defer {
                try? FileManager.default.removeItem(atPath: directory)  // the next one cannot be made then, and says so
            }
            for (name, content) in state {
                try #require(unsafe link("\(folder)/\(content)", "\(directory)/\(name)") == 0)
            }
            let isNew = after.allSatisfy { name, bytes in state[name].map { states.contents[$0] } == bytes }
            if let complaint = try reader.complaint(about: directory) {
                complaints.append(complaint)
            } else if states.last.contains(state), !isNew {
                complaints.append("the publication has ended and is not there")
            }
        }
        return complaints
    }
}

extension [FileOperation] {
    /// Where a file takes the name `new`; there is such a place in every publication.
    fileprivate func rename(to new: String) -> Int {
        firstIndex { if case .rename(_, new) = $0 { true } else { false } } ?? endIndex
    }
}
