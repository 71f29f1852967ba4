describe('a file without a test', () => undefined);
