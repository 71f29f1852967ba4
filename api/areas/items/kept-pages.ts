interface KeptPage {
  tag: string;
  text: string;
  until: number;
}

const KEPT_MS = 10_000;
const MOST_CHARACTERS = 8 * 2 ** 20;

/** Texts of pages as they were last written, each under the ETag of its list; the longest unread go first. */
export class KeptPages {
  readonly #pages = new Map<string, KeptPage>();
  #characters = 0;

  /** Whether something is kept that may still be good: then asking for the ETag alone is worth it. */
  has(key: string): boolean {
    const page = this.#pages.get(key);
    if (page && page.until < Date.now()) this.#drop(key, page);
    return this.#pages.has(key);
  }

  /** The page, when it was written under this ETag; one of another is forgotten. */
  take(key: string, tag: string): string | undefined {
    const page = this.#pages.get(key);
    if (!page) return undefined;
    this.#pages.delete(key);
    if (page.tag === tag) this.#pages.set(key, page);
    else this.#characters -= page.text.length;
    return page.tag === tag ? page.text : undefined;
  }

  keep(key: string, tag: string, text: string): void {
    const before = this.#pages.get(key);
    if (before) this.#drop(key, before);
    this.#pages.set(key, { tag, text, until: Date.now() + KEPT_MS });
    this.#characters += text.length;
    for (const [oldest, page] of this.#pages) {
      if (this.#characters <= MOST_CHARACTERS) break;
      this.#drop(oldest, page);
    }
  }

  #drop(key: string, page: KeptPage): void {
    this.#pages.delete(key);
    this.#characters -= page.text.length;
  }
}
