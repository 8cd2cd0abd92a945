import Basics
import Foundation
import Testing

struct WholeFileTests {
    private func inDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.path + "/whole-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }  // Only cleans up.
        try body(directory)
    }

    @Test func `a file is replaced with its permissions, and nothing else remains`() throws {
        try inDirectory { directory in
            let path = directory + "/file"
            try WholeFile.write(Array("old".utf8), to: path, mode: 0o644)
            try WholeFile.write(Array("new".utf8), to: path, mode: 0o600, isDurable: false)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["file"])
        }
    }

    @Test func `a link is replaced and not followed, also in place of the draft`() throws {
        try inDirectory { directory in
            let (path, target) = (directory + "/file", directory + "/target")
            try WholeFile.write(Array("target".utf8), to: target)
            for link in [path, "\(path).\(ProcessInfo.processInfo.processIdentifier)"] {
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            }
            try WholeFile.write(Array("new".utf8), to: path)
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "target")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["file", "target"])
        }
    }

    @Test func `a file that cannot be written leaves the old one and no draft`() throws {
        try inDirectory { directory in
            let missing = #expect(throws: WholeFile.Failure.self) {
                try WholeFile.write([1], to: directory + "/missing/file")
            }
            #expect(missing?.step == .create && missing?.reason == "No such file or directory")
            let taken = directory + "/taken"
            try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: false)
            let failure = #expect(throws: WholeFile.Failure.self) { try WholeFile.write([1], to: taken) }
            #expect(failure?.step == .write && failure?.path == taken)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["taken"])
        }
    }
}
