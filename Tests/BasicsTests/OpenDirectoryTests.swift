import Basics
import Foundation
import Testing

struct OpenDirectoryTests {
    /// A directory with a file, a directory, and a link to each of two others outside.
    private func withLinks(_ body: (_ directory: String, _ outside: String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.path + "/open-" + UUID().uuidString
        let (directory, outside) = (root + "/directory", root + "/outside")
        for path in [directory + "/below", outside] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: root) }  // Only cleans up.
        for path in [directory + "/file", outside + "/kept"] { try Data("x".utf8).write(to: URL(filePath: path)) }
        try FileManager.default.createSymbolicLink(atPath: directory + "/link", withDestinationPath: outside + "/kept")
        try FileManager.default.createSymbolicLink(atPath: directory + "/linked", withDestinationPath: outside)
        try body(directory, outside)
    }

    private struct NotOpened: Error {}

    private func opened(_ path: String) throws -> OpenDirectory {
        guard let directory = OpenDirectory(path: path) else { throw NotOpened() }
        return directory
    }

    @Test func `a link itself is removed, a directory is not, and a missing file is no error`() throws {
        try withLinks { path, outside in
            let directory = try opened(path)
            let found = directory.names().sorted()
            #expect(found == ["below", "file", "link", "linked"])
            let removed = ["link", "linked", "file", "missing", "below"].filter { directory.remove($0) }
            #expect(removed == ["link", "linked", "file", "missing"])
            let left = directory.names()
            #expect(left == ["below"])
            #expect(FileManager.default.fileExists(atPath: outside + "/kept"))
        }
    }

    @Test func `a directory below is opened, a link to one is not`() throws {
        try withLinks { path, _ in
            let directory = try opened(path)
            let below = directory.directory("below")?.names()
            #expect(below == [])
            let (linked, file) = (directory.directory("linked") == nil, directory.directory("file") == nil)
            #expect(linked && file)
        }
    }

    @Test func `names stay in the open directory when a link takes the place of its path`() throws {
        try withLinks { path, outside in
            let directory = try opened(path)
            try FileManager.default.moveItem(atPath: path, toPath: path + "-moved")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: outside)
            let removed = ["kept", "file"].filter { directory.remove($0) }
            #expect(removed == ["kept", "file"])
            #expect(FileManager.default.fileExists(atPath: outside + "/kept"))
            #expect(!FileManager.default.fileExists(atPath: path + "-moved/file"))
        }
    }

    @Test func `no other file of the sources removes files`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var removers: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains(/\b(unlink|unlinkat|rmdir|removeItem|nftw)\(/) || text.contains("unsafe remove(") {
                removers.append(file.lastPathComponent)
            }
        }
        #expect(removers == ["OpenDirectory.swift"])
    }
}
