/// Lets a limited number of tasks in at a time; the others wait in the order in which they came.
package actor Gate {
    private var places: Int
    private var line: [CheckedContinuation<Void, Never>] = []

    package init(places: Int) {
        self.places = places
    }

    /// - Parameter isFirst: Whether the task goes to the front of the line.
    package func enter(isFirst: Bool = false) async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { line.insert($0, at: isFirst ? 0 : line.endIndex) }
    }

    package func leave() {
        guard line.isEmpty else { return line.removeFirst().resume() }
        places += 1
    }
}
