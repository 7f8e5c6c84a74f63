// Gaussian blur on the tensor cores: separable, in fixed point, exact.
//
// Formula   down the columns w = sum t(k) v(y + k), along the rows v' = sum t(k) w(x + k), rounded half up after each.
//           With alpha the same sums of the weights A and of the weighted colours A * C, divided in the end
//           (core/blur_rules.h). The taps t are core/gauss.h's.
// Products  a pass is a product with a banded matrix T, T(i, k) = t(k - i), by the instruction that multiplies 16 x 32
//           by 32 x 8 bytes and adds up in 32 bits. Numbers wider than a byte go through in bytes: for planes a of
//           what is summed and b of the taps, T_b * V_a is added to the accumulator of weight 2^8(a + b).
// Shapes    u8 with sigma <= 32, and u16, 1..4 channels, any size, pitch and alignment, taps up to MOST_RADIUS, four
//           borders. The rest, and GPUs before sm_80: blur_gauss_plain.cu.
// Exact     integers; an accumulator stays below 3 * 255^2 * 265 < 2^26.
// Threads   a warp owns a band of 16 ROW_TILES rows and walks along it in chunks of 32 pixels. The first pass leaves
//           each lane with the bytes of w in just the order in which the second pass wants its left operand, if the
//           columns of a chunk are dealt out right: lane (g, t) = (lane / 4, lane % 4) reads the pixels 4g..4g+3, each
//           byte of which is column g of a product, and gets of each product columns 2t and 2t+1, together pixels
//           8t..8t+7.
//           So w goes from pass to pass without leaving the lane, but for a ring in shared memory of the chunks that
//           the second pass still needs: it makes chunk q when chunk q + ceil(R / 32) is there. Columns outside the
//           image get in the ring what the border rule has for them.
// Shared    the operands that are made of taps, as each lane loads them, and the bytes of the taps that they come from,
//           four times, each a byte further, so that any four neighbours are an aligned word; for each warp the ring,
//           where its rows lie, and the finished samples of a chunk on their way to whole sectors.
// Bytes     u8: read (16 ROW_TILES + 2R) / 16 ROW_TILES (mostly from the caches), written 1 a sample.
// Bound     latency, as shared memory and registers leave room for 6 to 16 warps, each of which waits for its loads and
//           for the tensor cores: on an H200 an instruction is issued in 31 to 47 % of the cycles. L1, 26 to 56 %,
//           reads each sector as often as pixels have words.
#include "kernels/blur_gauss_worker.cuh"

namespace {

using namespace gi;
using namespace gi::tensor;

template <typename Layout>
__global__ void __launch_bounds__(Layout::MOST_WARPS *WARP) gauss_kernel(const __grid_constant__ gauss_job job) {
    using Worker = worker<Layout>;
    extern __shared__ uint4 shared[];
    uint4 *down = shared;
    auto *along = (typename bands<Layout>::Along *)(down + job.down * Layout::TAP_BYTES * WARP);
    uint32_t *taps = (uint32_t *)(along + job.along * WARP);
    fill_taps<Layout::TAP_BYTES>(job, taps);
    __syncthreads();
    bands<Layout>::fill(job, taps, down, along);
    __syncthreads();
    const int lane = threadIdx.x % WARP, warps = (int)blockDim.x / WARP, warp = (int)threadIdx.x / WARP;
    unsigned char *room = (unsigned char *)(taps + Layout::TAP_BYTES * 4 * job.copy_words) + warp * job.warp_bytes;
    uint4 *ring = (uint4 *)(room + ROWS * Layout::ROW_TILES * Layout::ROW_BYTES);
    const unsigned char **rows = (const unsigned char **)(ring + job.ring * Layout::PLANES * Layout::ROW_TILES * WARP);
    Worker w = {{{job, down + lane, along + lane, ring, room, rows, 0}}};
    const int64_t x0 = (int64_t)blockIdx.x * job.chunks * CHUNK;
    const int64_t end = min(x0 + (int64_t)job.chunks * CHUNK, job.b.width);
    const int before = job.ring / 2;
    // The first and the last bands take longest, and come first.
    const int64_t turn = blockIdx.y == 0 ? gridDim.y - 1 : blockIdx.y - 1;
    for (int64_t band = turn * warps + warp;; band += (int64_t)gridDim.y * warps) {
        const int64_t y0 = job.b.out_y0 + band * ROWS * Layout::ROW_TILES;
        if (y0 >= job.b.out_end) return;
        w.begin(y0);
        const reading how = w.reading_of();
        int slot = 0; // of the chunk at x
        for (int64_t x = x0 - before * CHUNK; x < end + before * CHUNK; x += CHUNK) {
            if (x >= 0 && x < job.b.width) w.pass_1_all(x, slot, how);
            if (x + CHUNK > job.b.width) Worker::extend(w, x, slot);
            const int64_t made = x - before * CHUNK;
            const int made_slot = slot >= before ? slot - before : slot - before + job.ring;
            if (x0 == 0 && made == 0)
                for (int i = 1; i <= before; i++)
                    Worker::extend(w, -i * CHUNK, made_slot >= i ? made_slot - i : made_slot - i + job.ring);
            if (made >= x0) w.pass_2_all(made, end, made_slot);
            slot = slot + 1 == job.ring ? 0 : slot + 1;
        }
    }
}

// --- launching -------------------------------------------------------------------------------------------------------

// How many chunks a strip has, of `all` in a row. Blocks come in waves of `resident`; each makes a strip, and of `halo`
// chunks more the half.
size_t chunks_of_strip(size_t all, size_t bands, size_t resident, size_t halo) {
    constexpr size_t LEAST = 4;
    size_t best = all, least = SIZE_MAX;
    for (size_t strips = 1; strips == 1 || strips * LEAST <= all; strips++) {
        const size_t chunks = divide_up(all, strips), blocks = bands * divide_up(all, chunks);
        const size_t time = divide_up(blocks, resident) * (chunks + halo / 2);
        if (time >= least) continue;
        least = time;
        best = chunks;
    }
    return best;
}

gauss_job job_of(const gi_job *job, const gi_gauss &gauss) {
    gauss_job g = {};
    g.b = blur_band_of(job);
    g.sums = tap_sums_of(gauss);
    g.reach = (gauss.radius + 3) / 4 * 4;
    g.ring = 2 * ((g.reach + CHUNK - 1) / CHUNK) + 1;
    const int words = (TAPS_BEFORE + 2 * g.reach + 1 + TAPS_AFTER) / 4 + 1;
    g.copy_words = (words + 23) / 32 * 32 + 8; // 8 more than a multiple of 32: the copies begin in different banks
    for (int k = 0; k <= gauss.radius; k++) g.taps[k] = gauss.taps[k];
    return g;
}

// How a kernel's blocks are made up.
struct block_plan {
    int warps; // 0: not even one fits
    size_t shared, resident;
};

// Warps of a block, in the order in which they are tried: small blocks end sooner, large ones share their taps.
constexpr int WARPS[] = {4, 8, 12, 16, 10, 7, 6, 5, 3, 2, 1};

// The first of WARPS, at most `most`, with which most warps run at once, shared memory permitting: `taps` bytes of it
// for a block and `warp` for each warp.
template <typename Kernel>
gi_status plan_blocks(Kernel kernel, int most, size_t taps, size_t warp, block_plan *p, gi_error *err) {
    int device = 0, room = 0;
    cudaFuncAttributes attributes;
    gi_status status = gi_cuda_check(cudaGetDevice(&device), "asking for the device", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                               "asking for shared memory", err);
    if (status == GI_OK) status = gi_cuda_check(cudaFuncGetAttributes(&attributes, kernel), "asking for a kernel", err);
    if (status != GI_OK) return status;
    room -= (int)attributes.sharedSizeBytes;
    status = gi_cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room),
                           "asking for shared memory", err);
    *p = {};
    // Code for GPUs before sm_80 may run on later ones, by way of PTX.
    if (attributes.ptxVersion < 80) return status;
    for (int warps : WARPS) {
        size_t blocks = 0;
        const size_t shared = taps + warps * warp;
        if (warps > most || shared > (size_t)room) continue;
        status = resident_blocks(kernel, warps * WARP, &blocks, err, shared);
        if (status != GI_OK) break;
        if (blocks * warps > p->resident * p->warps) *p = {warps, shared, blocks};
    }
    return status;
}

template <typename Layout> gi_status launch(const gi_job *job, const gi_gauss &gauss, gi_error *err) {
    auto kernel = gauss_kernel<Layout>;
    gauss_job g = job_of(job, gauss);
    bands<Layout>::count(&g);
    g.warp_bytes = ROWS * Layout::ROW_TILES * Layout::ROW_BYTES +
                   (size_t)g.ring * Layout::PLANES * Layout::ROW_TILES * WARP * sizeof(uint4) +
                   divide_up(ROWS * Layout::ROW_TILES + 2 * g.reach, DEPTH) * DEPTH * sizeof(void *);
    block_plan p;
    const size_t taps = bands<Layout>::bytes(g) + (size_t)Layout::TAP_BYTES * 4 * g.copy_words * 4;
    const gi_status status = plan_blocks(kernel, Layout::MOST_WARPS, taps, g.warp_bytes, &p, err);
    if (status != GI_OK) return status;
    if (p.warps == 0) return blur_gauss_plain(job, gauss, err);
    const size_t rows = divide_up(divide_up(job->out.height, ROWS * Layout::ROW_TILES), (size_t)p.warps);
    const size_t all = divide_up(job->in.width, CHUNK);
    g.chunks = (int)chunks_of_strip(all, rows, p.resident, g.ring - 1);
    const dim3 grid((unsigned)divide_up(all, (size_t)g.chunks), grid_rows(rows));
    kernel<<<grid, p.warps * WARP, p.shared, (cudaStream_t)job->stream>>>(g);
    return gi_cuda_check(cudaGetLastError(), "starting a Gaussian blur", err);
}

template <typename Sample> gi_status launch_channels(const gi_job *job, const gi_gauss &gauss, gi_error *err) {
    switch (job->in.channels) {
    case 1: return launch<layout<Sample, 1>>(job, gauss, err);
    case 2: return launch<layout<Sample, 2>>(job, gauss, err);
    case 3: return launch<layout<Sample, 3>>(job, gauss, err);
    default: return launch<layout<Sample, 4>>(job, gauss, err);
    }
}

// A tap of one has a byte more than there are planes for: such a blur does nothing.
bool suits(const gi_gauss &gauss, gi_sample sample) {
    return is_narrow(gauss) == (sample == GI_U8) && gauss.radius > 0 && gauss.radius <= MOST_RADIUS;
}

} // namespace

// None for the tensor cores, but which kernels run is the device's to say.
size_t gi::blur_gauss_scratch(const gi_job *job) {
    gi_gauss gauss;
    gi_gauss_make(((const gi_blur_args *)job->args)->sigma, job->in.sample, &gauss);
    return blur_gauss_plain_scratch(job, gauss);
}

gi_status gi::blur_gauss(const gi_job *job, gi_error *err) {
    gi_gauss gauss;
    gi_gauss_make(((const gi_blur_args *)job->args)->sigma, job->in.sample, &gauss);
    if (!suits(gauss, job->in.sample)) return blur_gauss_plain(job, gauss, err);
    return job->in.sample == GI_U8 ? launch_channels<uint8_t>(job, gauss, err)
                                   : launch_channels<uint16_t>(job, gauss, err);
}
