/// What a program did to a directory and the files in it, as far as a power failure can tell the difference.
enum FileOperation: Equatable, Sendable {
    /// A new file; `isNew` when it must not have existed, `mode` in octal.
    case create(String, isNew: Bool, mode: String)
    case write(String, count: Int)
    case synchronize(String)
    case synchronizeDirectory
    case rename(String, to: String)
    case remove(String)
}

/// One call as a recorder saw it.
struct RecordedCall: Equatable, Sendable {
    let call: String
    let name: String
    let detail: String
    /// 0, or the errno.
    let result: Int

    /// Reads a line of the shim's log.
    init?(shim line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 4, let result = Int(words[3]) else { return nil }
        (call, name, detail) = (String(words[0]), String(words[1]), String(words[2]))
        self.result = result
    }

    /// What it changed; `nil` when it failed, or only asked.
    var operation: FileOperation? {
        guard result == 0 else { return nil }
        return switch call {
        case "create":
            .create(name, isNew: detail.hasPrefix("new,"), mode: String(detail.drop { $0 != "," }.dropFirst()))
        case "write": .write(name, count: Int(detail) ?? 0)
        case "fsync": name == "." ? .synchronizeDirectory : .synchronize(name)
        case "rename": .rename(name, to: detail)
        case "unlink": .remove(name)
        default: nil
        }
    }
}

extension FileOperation {
    /// Reads what `strace -f -y -s 0` wrote, as far as it is about the files of `directory`.
    ///
    /// A call that another thread's interrupted is on two lines, and counts where it ends.
    static func read(strace text: String, directory: String) -> [FileOperation] {
        var unfinished: [Substring: Substring] = [:]
        return text.split(separator: "\n").compactMap { line in
            guard let space = line.firstIndex(of: " ") else { return nil }
            let thread = line[..<space]
            var call = line[space...].drop { $0 == " " }
            if let cut = call.firstRange(of: " <unfinished ...>") {
                unfinished[thread] = call[..<cut.lowerBound]
                return nil
            }
            if call.hasPrefix("<... "), let resumed = call.firstRange(of: "resumed>") {
                call = Substring((unfinished.removeValue(forKey: thread) ?? "") + call[resumed.upperBound...])
            }
            return FileOperation(strace: call, directory: directory)
        }
    }

    /// Reads one call: `renameat(7</out>, ".a.tmp", 7</out>, "a") = 0`.
    private init?(strace line: Substring, directory: String) {
        guard let open = line.firstIndex(of: "("), let equals = line.range(ofLast: ") = ") else { return nil }
        let result = line[equals.upperBound...]
        guard !result.hasPrefix("-1") else { return nil }
        let words = line[line.index(after: open)..<equals.lowerBound].split(separator: ", ")
        /// The path behind a descriptor: `9</out/a>`.
        func place(_ word: Substring) -> Substring {
            word.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" }
        }
        func text(_ word: Substring) -> String { String(word.dropFirst().prefix { $0 != "\"" }) }
        let call = line[..<open]
        guard let first = words.first else { return nil }
        let path = place(first)
        let isInside = path.hasPrefix(directory + "/")
        let name = String(path.dropFirst(directory.utf8.count + 1))
        switch call {
        case "openat" where path == directory && words.count == 4:
            self = .create(
                text(words[1]),
                isNew: words[2].contains("O_EXCL"),
                mode: String(words[3].drop { $0 == "0" })
            )
        case "write" where isInside: self = .write(name, count: Int(result.prefix { $0.isNumber }) ?? 0)
        case "fsync" where path == directory: self = .synchronizeDirectory
        case "fsync" where isInside: self = .synchronize(name)
        case "renameat" where path == directory: self = .rename(text(words[1]), to: text(words[3]))
        case "unlinkat" where path == directory: self = .remove(text(words[1]))
        default: return nil
        }
    }
}

extension Substring {
    fileprivate func range(ofLast words: String) -> Range<Index>? {
        ranges(of: words).last
    }
}
