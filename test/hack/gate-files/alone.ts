// Runs alone: the gate is to keep it to the end.
describe('a file that needs the machine alone', () => {
  it('passes', () => undefined);
});
