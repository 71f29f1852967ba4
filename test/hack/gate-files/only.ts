describe('a file of which one test is singled out', () => {
  // biome-ignore lint/suspicious/noFocusedTests: the gate has to refuse it
  it.only('runs alone', () => undefined);
  it('would fail', () => {
    throw new Error('not run');
  });
});
