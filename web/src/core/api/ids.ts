/** 128 random bits in hex; randomUUID does not exist on pages that were loaded over http. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
