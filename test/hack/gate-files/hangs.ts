describe('a file that hangs', () => {
  it('never lets go of its process', () => {
    for (;;);
  });
});
