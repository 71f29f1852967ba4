describe('a file whose process is killed, as for want of memory', () => {
  it('ends with it', () => process.kill(process.pid, 'SIGKILL'));
});
