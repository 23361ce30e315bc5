// One clip's sound: play it, see its waveform and spectrogram, and where it is just now.

const FRAME = 1024; // Samples of a spectrum; half as many frequencies.
const HIGHEST = 12000; // Hertz; what a caption is about lies below.
const MOST_SECONDS = 120; // A longer clip is not decoded for its spectrogram.
const LIKE_VIRIDIS = [[13, 8, 50], [59, 32, 110], [52, 84, 139], [38, 130, 142], [60, 176, 115], [150, 214, 70], [253, 231, 60]];

// As it is heard: the mean of all channels, or the loudest where they cancel.
function mono(channels) {
  const average = (one) => one.reduce((sum, value) => sum + value, 0) / one.length;
  const power = (one, offset = average(one)) => one.reduce((sum, value) => sum + (value - offset) ** 2, 0);
  const mean = channels[0].map((_, at) => channels.reduce((sum, one) => sum + one[at], 0) / channels.length);
  const loudest = channels.reduce((best, one) => (power(one) > power(best) ? one : best));
  return 10 * power(mean) < power(loudest) ? loudest : mean;
}

class Player {
  constructor(clip) {
    this.clip = clip;
    this.address = null;
    this.element = this.build();
  }

  build() {
    const { sound, seconds, id } = this.clip;
    if (sound.none) return make("p", "soft", sound.none);
    if (sound.missing) return foreign("p", "warning", `No sound: ${sound.missing}.`);
    const box = make("div", "sound");
    this.audio = make("audio", { ariaLabel: `Play ${plain(id)}`, controls: true, preload: "none" });
    this.audio.addEventListener("error", () => this.unheard(box, sound));
    this.wave = make("canvas", "wave");
    this.spectrum = make("canvas", { className: "spectrum", hidden: true });
    this.head = make("i", "playhead");
    const pictures = make("div", { className: "pictures", ariaHidden: "true" }, this.wave, this.spectrum, this.head);
    pictures.addEventListener("click", (event) => {
      const frame = pictures.getBoundingClientRect();
      this.audio.currentTime = ((event.clientX - frame.left) / frame.width) * this.length();
    });
    for (const name of ["timeupdate", "seeked", "play", "pause"]) this.audio.addEventListener(name, () => this.move());
    box.append(pictures, this.audio);
    if (sound.link) this.audio.src = sound.link;
    this.length = () => (Number.isFinite(this.audio.duration) ? this.audio.duration : seconds || 1);
    // A canvas has the size of what it stands in, and the colours of the page's theme.
    this.resized = new ResizeObserver(() => this.paint());
    this.resized.observe(pictures);
    this.themed = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = () => this.paint();
    this.themed.addEventListener("change", this.repaint);
    if (sound.bytes) this.load(sound, box);
    return box;
  }

  async load(sound, box) {
    try {
      const bytes = await sound.bytes();
      if (this.closed) return;
      if (bytes.missing) {
        this.audio = null;
        box.replaceChildren(foreign("p", "warning", `No sound: ${bytes.missing}.`));
        return;
      }
      if (!sound.link) {
        this.address = URL.createObjectURL(new Blob([bytes], { type: sound.kind }));
        this.audio.src = this.address;
      }
      if (this.clip.seconds > MOST_SECONDS) return;
      const context = new OfflineAudioContext(1, 1, 44100);
      const decoded = await context.decodeAudioData(bytes.slice().buffer);
      if (this.closed) return;
      this.samples = mono(Array.from({ length: decoded.numberOfChannels }, (_, at) => decoded.getChannelData(at)));
      this.rate = decoded.sampleRate;
      this.spectrum.hidden = false;
      this.paint();
      box.dataset.drawn = "yes";
    } catch {
      box.dataset.drawn = "no"; // The browser plays more formats than it decodes; the outline stays.
    }
  }

  // The element says no more than that it failed; a file that is gone and one of an odd format look alike.
  unheard(box, sound) {
    if (box.querySelector(".warning")) return;
    const said = sound.link
      ? `The file is not at ${beginning(sound.link, 300)}; was the page moved? If it is there, this browser cannot play it.`
      : "This browser cannot play the file.";
    box.append(foreign("p", { className: "warning text", role: "alert" }, said));
  }

  move() {
    this.head.style.left = `${(100 * this.audio.currentTime) / this.length()}%`;
    if (!this.audio.paused && !this.moving) {
      this.moving = true;
      requestAnimationFrame(() => {
        this.moving = false;
        this.move();
      });
    }
  }

  paint() {
    const width = Math.round(this.wave.clientWidth * Math.min(2, devicePixelRatio || 1));
    if (!width) return;
    const colour = getComputedStyle(this.wave).color;
    this.wave.width = width;
    this.wave.height = 144;
    const canvas = this.wave.getContext("2d");
    canvas.fillStyle = colour;
    const step = 4;
    for (let x = 0; x < width; x += step) {
      const [low, high] = this.range(x / width, (x + step) / width);
      const tall = Math.max(1.5, (high - low) * 70);
      canvas.fillRect(x, 72 - high * 70, step - 1, tall);
    }
    if (this.samples && this.drawn !== width) {
      this.drawn = width;
      this.spectrogram(Math.min(width, 900), 128);
    }
  }

  // The lowest and highest sample of a part of the clip.
  range(from, to) {
    const { peaks } = this.clip.sound;
    if (!this.samples && !peaks) return [0, 0];
    if (!this.samples) {
      const number = peaks.length / 2;
      const place = Math.min(number - 1, Math.floor(from * number));
      return [peaks[place] / 127.5 - 1, peaks[number + place] / 127.5 - 1];
    }
    let [low, high] = [1, -1];
    const end = Math.min(this.samples.length, Math.ceil(to * this.samples.length));
    const start = Math.floor(from * this.samples.length);
    const stride = Math.max(1, Math.floor((end - start) / 400));
    for (let i = start; i < end; i += stride) {
      low = Math.min(low, this.samples[i]);
      high = Math.max(high, this.samples[i]);
    }
    return low > high ? [0, 0] : [low, high];
  }

  spectrogram(width, height) {
    const canvas = this.spectrum;
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const bins = Math.min(FRAME / 2, Math.ceil((Math.min(HIGHEST, this.rate / 2) / this.rate) * FRAME));
    const levels = new Float32Array(width * height);
    const power = new Float32Array(FRAME / 2);
    let loudest = -Infinity;
    for (let x = 0; x < width; x++) {
      spectrumOf(this.samples, Math.floor((x / width) * Math.max(0, this.samples.length - FRAME)), power);
      for (let y = 0; y < height; y++) {
        const level = Math.log10(power[Math.floor(((height - 1 - y) / height) * bins)] + 1e-10);
        levels[y * width + x] = level;
        loudest = Math.max(loudest, level);
      }
    }
    for (let i = 0; i < levels.length; i++) {
      // Seventy decibels below the loudest are dark, and so is a clip in which nothing is loudest.
      const share = Math.max(0, Math.min(1, 1 + (levels[i] - (loudest > -9 ? loudest : 0)) / 7)) * (LIKE_VIRIDIS.length - 1);
      const [below, part] = [Math.min(LIKE_VIRIDIS.length - 2, Math.floor(share)), share - Math.min(LIKE_VIRIDIS.length - 2, Math.floor(share))];
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = LIKE_VIRIDIS[below][c] * (1 - part) + LIKE_VIRIDIS[below + 1][c] * part;
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  }

  play() {
    if (!this.audio) return;
    if (this.audio.paused) this.audio.play().catch(() => {});
    else this.audio.pause();
  }

  close() {
    this.closed = true;
    if (this.audio) this.audio.pause();
    this.resized?.disconnect();
    this.themed?.removeEventListener("change", this.repaint);
    if (!this.address) return;
    // Nothing may still be loading from an address that is given back.
    this.audio?.removeAttribute("src");
    this.audio?.load();
    URL.revokeObjectURL(this.address);
  }
}

const WINDOW = Float32Array.from({ length: FRAME }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FRAME));
const [REAL, IMAGINARY] = [new Float32Array(FRAME), new Float32Array(FRAME)];
const BITS = Math.log2(FRAME);
// Where a sample goes: its number with the bits the other way round.
const PLACES = Uint16Array.from({ length: FRAME }, (_, i) => {
  let place = 0;
  for (let bit = 0; bit < BITS; bit++) place |= ((i >> bit) & 1) << (BITS - 1 - bit);
  return place;
});
const [COS, SIN] = [Math.cos, Math.sin].map((of) => Float64Array.from({ length: FRAME / 2 }, (_, i) => of((-2 * Math.PI * i) / FRAME)));

// The power of one frame's frequencies: a fast Fourier transform in place.
function spectrumOf(samples, start, power) {
  for (let i = 0; i < FRAME; i++) {
    REAL[PLACES[i]] = start + i < samples.length ? samples[start + i] * WINDOW[i] : 0;
    IMAGINARY[i] = 0;
  }
  for (let half = 1; half < FRAME; half *= 2) {
    const step = FRAME / 2 / half;
    for (let j = 0; j < half; j++) {
      const cos = COS[j * step];
      const sin = SIN[j * step];
      for (let i = j; i < FRAME; i += 2 * half) {
        const other = i + half;
        const re = REAL[other] * cos - IMAGINARY[other] * sin;
        const im = REAL[other] * sin + IMAGINARY[other] * cos;
        REAL[other] = REAL[i] - re;
        IMAGINARY[other] = IMAGINARY[i] - im;
        REAL[i] += re;
        IMAGINARY[i] += im;
      }
    }
  }
  for (let i = 0; i < FRAME / 2; i++) power[i] = REAL[i] * REAL[i] + IMAGINARY[i] * IMAGINARY[i];
}
