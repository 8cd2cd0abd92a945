extension FileOperation {
    /// What in a publication does not follow its rule; empty when all does.
    ///
    /// Each file is created with mode 0600, written, synchronised, and only then takes its name; the old manifest is gone
    /// for good before, and the new one takes its name once the others have theirs for good, last of all.
    static func complaints(about operations: [FileOperation]) -> [String] {
        var complaints: [String] = []
        var isSynchronized: [String: Bool] = [:]
        let manifest = operations.lastIndex { if case .rename(_, "manifest.json") = $0 { true } else { false } }
        let others = operations.indices.filter {
            if case .rename(_, let name) = operations[$0] { name != "manifest.json" } else { false }
        }
        for operation in operations {
            switch operation {
            case .create(let name, let isNew, let mode):
                if !isNew || mode != "600" { complaints.append("\(name) is not made anew with mode 0600") }
                isSynchronized[name] = false
            case .write(let name, _): isSynchronized[name] = false
            case .synchronize(let name): isSynchronized[name] = true
            case .rename(let name, let new):
                if isSynchronized[name] != true { complaints.append("\(new) takes its place before it is on disk") }
            case .remove, .synchronizeDirectory: break
            }
        }
        guard let manifest, let first = others.first, let last = others.last else {
            return complaints + ["there is no manifest, or nothing else"]
        }
        let removal = operations.firstIndex(of: .remove("manifest.json"))
        let gone = operations.firstIndex(of: .synchronizeDirectory)
        if let removal, let gone, removal < gone, gone < first {
        } else {
            complaints.append("the old manifest is not gone before the first file takes its place")
        }
        if manifest < last || !operations[last..<max(last, manifest)].contains(.synchronizeDirectory) {
            complaints.append("the manifest takes its place before the files have theirs")
        }
        if operations[manifest...].dropFirst() != [.synchronizeDirectory] {
            complaints.append("the directory is not synchronised last")
        }
        return complaints
    }
}
