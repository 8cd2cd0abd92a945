import Basics
import FoundationEssentials
import Glibc
import Testing

@Suite struct ReadFilesTests {
    private struct Unusable: Error {}

    /// Runs `body` with a file that has the text `first`, and the value that is read from it.
    private func reading(_ body: (_ path: String, _ value: ReadFiles<String>) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "read-files-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try write("first", to: path)
        let read = { @Sendable () throws -> String in
            let text = try String(contentsOfFile: path, encoding: .utf8)
            guard text != "unusable" else { throw Unusable() }
            return text
        }
        try body(path, try ReadFiles([path], first: read) { (try read(), [path]) })
    }

    /// Replaces a file atomically.
    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }

    @Test func `a file is read again after it was replaced, and only then`() throws {
        try reading { path, value in
            #expect(value.readAgain() == nil && value.value == "first")
            try write("other", to: path)
            #expect(try value.readAgain()?.get() == "other")
            #expect(value.readAgain() == nil && value.value == "other")
        }
    }

    @Test func `a file is read again after a link on the way to it was replaced, as Kubernetes updates a secret`()
        throws
    {
        try reading { path, _ in
            let folder = path + "-mounted"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            for (version, text) in [("1", "first"), ("2", "other")] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(version)",
                    withIntermediateDirectories: true
                )
                try write(text, to: "\(folder)/\(version)/key")
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/data-\(version)",
                    withDestinationPath: version
                )
            }
            try FileManager.default.createSymbolicLink(atPath: folder + "/key", withDestinationPath: "data/key")
            try #require(unsafe rename(folder + "/data-1", folder + "/data") == 0)
            let read = { @Sendable () throws -> String in
                try String(contentsOfFile: folder + "/key", encoding: .utf8)
            }
            let value = try ReadFiles([folder + "/key"], first: read) { (try read(), [folder + "/key"]) }
            #expect(value.readAgain() == nil && value.value == "first")
            try #require(unsafe rename(folder + "/data-2", folder + "/data") == 0)
            #expect(try value.readAgain()?.get() == "other")
        }
    }

    @Test func `a file that cannot be used leaves the value, is reported once, and is tried again`() throws {
        try reading { path, value in
            try write("unusable", to: path)
            #expect(throws: Unusable.self) { try value.readAgain()?.get() }
            #expect(value.readAgain() == nil && value.value == "first")
            try FileManager.default.removeItem(atPath: path)
            #expect(throws: (any Error).self) { try value.readAgain()?.get() }
            #expect(value.readAgain() == nil && value.value == "first")
            try write("third", to: path)
            #expect(try value.readAgain()?.get() == "third")
        }
    }
}
