describe('a file whose hook fails', () => {
  before(() => {
    throw new Error('the hook fails');
  });
  it('would pass', () => undefined);
});
