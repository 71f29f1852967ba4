// SubStation subtitles by libass, loaded with the first such track.
import JASSUB from 'jassub';
import defaultFont from 'jassub/dist/default.woff2?url';
import wasmUrl from 'jassub/dist/wasm/jassub-worker.wasm?url';
import modernWasmUrl from 'jassub/dist/wasm/jassub-worker-modern.wasm?url';
import workerUrl from 'jassub/dist/worker/worker.js?worker&url';

export interface AssOptions {
  video: HTMLVideoElement;
  canvas: HTMLCanvasElement;
  content: string;
  /** Addresses of the fonts that the file has. */
  fonts: readonly string[];
  /** Drawing has ended: the worker failed, or it has not finished a picture for a long time. */
  failed(error: unknown): void;
}

export interface AssTrack {
  setOffset(ms: number): void;
  /** Draws again where the picture stands still. */
  redraw(): void;
  destroy(): void;
}

const FALLBACK = 'liberation sans';
/** What libass may keep of drawn shapes, so that a file of drawings cannot take the memory of the page. */
const MEMORY_MB = 128;
const GLYPHS = 4096;

/** Frames of the film during one drawing; after so many the file is too much for libass. */
const MOST_MISSED = 500;

/** A renderer that reports its end. It draws with the frames of the film, so nothing else waits for its promises. */
class Renderer extends JASSUB {
  failed: ((error: unknown) => void) | undefined;
  #missed = 0;

  override async _demandRender(repaint?: boolean): Promise<void> {
    if (this._destroyed) return;
    this.#missed = this.busy ? this.#missed + 1 : 0;
    if (this.#missed > MOST_MISSED) this.end(new Error('the subtitles are too complex'));
    else await super._demandRender(repaint).catch((error: unknown) => this.end(error));
  }

  override async resize(...sizes: Parameters<JASSUB['resize']>): Promise<void> {
    if (!this._destroyed) await super.resize(...sizes).catch((error: unknown) => this.end(error));
  }

  /** Stops the worker at once, also one that is busy. */
  end(error?: unknown): void {
    if (this._destroyed) return;
    this._destroyed = true;
    this._canvas.remove();
    this._removeListeners();
    this._worker.terminate();
    if (error !== undefined) this.failed?.(error);
  }
}

/** Resolves when the renderer has the track, and rejects when it ended before. */
export async function assTrack({ video, canvas, content, fonts, failed }: AssOptions): Promise<AssTrack> {
  const renderer = new Renderer({
    video,
    canvas,
    subContent: content,
    fonts: [...fonts, defaultFont], // one that comes only when it is missed would not be drawn in a paused film
    availableFonts: { [FALLBACK]: defaultFont },
    defaultFont: FALLBACK,
    queryFonts: false, // its other modes send requests to another host
    workerUrl,
    wasmUrl,
    modernWasmUrl,
    libassMemoryLimit: MEMORY_MB,
    libassGlyphLimit: GLYPHS,
    maxRenderHeight: 1080,
  });
  const started = Promise.withResolvers<void>();
  renderer.failed = started.reject;
  renderer._worker.addEventListener('error', (event) => {
    event.preventDefault();
    renderer.end(new Error(event.message || 'the renderer of subtitles ended'));
  });
  renderer.ready.then(started.resolve, (error: unknown) => renderer.end(error));
  await started.promise;
  renderer.failed = failed;
  const redraw = (): void => {
    const { currentTime: mediaTime, videoWidth: width, videoHeight: height } = video;
    if (width === 0) return;
    const moment = { mediaTime, width, height, expectedDisplayTime: performance.now() };
    void renderer.manualRender(moment, true);
  };
  redraw();
  return {
    setOffset(ms) {
      renderer.timeOffset = -ms / 1000;
      redraw();
    },
    redraw,
    destroy: () => renderer.end(),
  };
}
