import FoundationEssentials

/// Every state of a directory that a power failure may leave while a program works in it.
///
/// What was not brought to disk may be lost, kept, reordered or torn. A name can show any file that it has shown since
/// the directory was last synchronised. Each name does so independently, so a rename may be half done. A file has its
/// content of the last synchronisation. Of later writes it has nothing, a part (whole writes, and quarters of the last
/// one), zeros in their place, or their end without their beginning.
struct CrashStates {
    /// A file's bytes by their number in ``contents``.
    typealias State = [String: Int]

    /// In the order they were found.
    private(set) var states: [State] = []
    private(set) var contents: [Data] = []
    /// How many of the states are there after the last operation: what a program that has ended must have made sure of.
    private(set) var last: Set<State> = []

    private var seen: Set<State> = []
    private var numbers: [Data: Int] = [:]

    /// A file under any name.
    private struct File {
        /// All that will ever be written to it.
        let whole: Data
        /// What was there when it was last synchronised; empty for a new file.
        var durable = 0
        /// Where each write since then ended.
        var ends: [Int] = []
        var length: Int { ends.last ?? durable }
    }

    private var files: [File] = []
    /// For each name, the files it may show; `nil` stands for no file.
    private var durable: [String: Int] = [:]
    private var pending: [String: [Int?]] = [:]
    private var visible: [String: Int] = [:]

    /// - Parameters:
    ///   - operations: What was done, in order.
    ///   - before: The files that were there, safe on disk.
    ///   - after: What each file contains at the end, under the last name it had.
    init(of operations: [FileOperation], before: [String: Data], after: [String: Data]) {
        for (name, bytes) in before {
            durable[name] = files.count
            files.append(File(whole: bytes, durable: bytes.count))
        }
        visible = durable
        note()
        for (place, operation) in operations.enumerated() {
            let rest = operations[place...]
            apply(operation) { name in after[Self.lastName(of: name, in: rest)] ?? Data() }
            last = []
            note()
        }
    }

    /// What the file that is called `name` now will be called in the end.
    private static func lastName(of name: String, in operations: ArraySlice<FileOperation>) -> String {
        for case .rename(name, let new) in operations { return new }
        return name
    }

    private mutating func apply(_ operation: FileOperation, _ whole: (String) -> Data) {
        switch operation {
        case .create(let name, _, _):
            show(files.count, as: name)
            files.append(File(whole: whole(name)))
        case .write(let name, let count):
            guard let file = visible[name] else { return }
            files[file].ends.append(files[file].length + count)
        case .synchronize(let name):
            guard let file = visible[name] else { return }
            files[file].durable = files[file].length
            files[file].ends = []
        case .synchronizeDirectory:
            durable = visible
            pending = [:]
        case .rename(let name, let new):
            let file = visible[name]
            show(nil, as: name)
            show(file, as: new)
        case .remove(let name):
            show(nil, as: name)
        }
    }

    private mutating func show(_ file: Int?, as name: String) {
        visible[name] = file
        pending[name, default: []].append(file)
    }

    /// Adds every state that a failure at this moment may leave.
    private mutating func note() {
        var found: [State] = [[:]]
        for name in Set(durable.keys).union(pending.keys).sorted() {
            let shown = Set([durable[name]] + (pending[name] ?? []))
            found = found.flatMap { state in
                shown.flatMap { file -> [State] in
                    guard let file else { return [state] }
                    return variants(of: file).map { content in state.merging([name: content]) { $1 } }
                }
            }
        }
        for state in found {
            last.insert(state)
            if seen.insert(state).inserted { states.append(state) }
        }
    }

    /// What a file may contain after a failure.
    private mutating func variants(of number: Int) -> Set<Int> {
        let file = files[number]
        let whole = file.whole.prefix(file.length)
        guard let end = file.ends.last else { return [intern(whole)] }
        let lastStart = file.ends.dropLast().last ?? file.durable
        let torn = [1, 2, 3].map { lastStart + (end - lastStart) * $0 / 4 }
        let lost = Data(count: end - file.durable)
        let half = lost.count / 2
        return Set(
            ([file.durable, end] + file.ends + torn).map { intern(whole.prefix($0)) }
                + [
                    intern(whole.prefix(file.durable) + lost),
                    intern(whole.prefix(file.durable) + lost.prefix(half) + whole.suffix(lost.count - half)),
                ]
        )
    }

    private mutating func intern(_ bytes: Data) -> Int {
        let copy = Data(bytes)
        if let number = numbers[copy] { return number }
        numbers[copy] = contents.count
        contents.append(copy)
        return contents.count - 1
    }
}
