/// Lets a limited number of tasks in at a time; the others wait in the order they came.
package actor Gate {
    private var places: Int
    private var line: [CheckedContinuation<Void, Never>] = []

    package init(places: Int) {
        self.places = places
    }

    package func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { line.append($0) }
    }

    package func leave() {
        guard line.isEmpty else { return line.removeFirst().resume() }
        places += 1
    }
}
