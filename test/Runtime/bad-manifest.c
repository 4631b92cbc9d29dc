// Every way a manifest can be wrong is told by place and word, and gives no handle.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/cpu_kernel.c -o %t.kernel.so -lm
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %t.kernel.so %t.dir/kernel.so && %t %t.dir
#include "check.h"

/// A step of two kernels, of which the first has this in it; a map; a GPU kernel with one.
#define TWO(MORE) "\"kernels\": [{\"first_of\": [{\"name\": \"attention_fwd\", " CPU_KERNEL MORE "}, {}]}, "
#define MAP(OPERAND, LAYOUT, ROWS, SWIZZLE)                                                                            \
  "{\"map\": \"" OPERAND "\", \"layout\": \"" LAYOUT "\", \"rows\": " ROWS ", \"swizzle\": " SWIZZLE "}"
#define MAPPED(...)                                                                                                    \
  "\"kernels\": [{\"name\": \"f\", \"chip\": \"sm_90\", \"ptx\": \"a.ptx\", \"threads\": 1, \"grid\": "                \
  "\"min_sms\", \"tiles\": 1, \"args\": [" MAP(__VA_ARGS__) "]}, "

static const struct {
  const char *from, *to;
  attn_status status;
  const char *text;
} edits[] = {
    // JSON itself
    {"{\"attn_manifest\": 1,\n", "", ATTN_ERROR_MANIFEST, "manifest.json:1:11: is not JSON"},
    {"\"values\":", "\"values\"", ATTN_ERROR_MANIFEST, "is not JSON"},
    {"}]}]}\n", "}]}]}\nx", ATTN_ERROR_MANIFEST, "is not JSON"},
    // version
    {"\"attn_manifest\": 1", "\"attn_manifest\": 2", ATTN_ERROR_UNSUPPORTED,
     "attn_manifest: is version 2, this library reads version 1"},
    {"\"attn_manifest\": 1", "\"attn_manifest\": \"1\"", ATTN_ERROR_MANIFEST,
     "attn_manifest: expected the version of the format, got a string"},
    {"\"attn_manifest\": 1", "\"other\": 1", ATTN_ERROR_MANIFEST,
     "attn_manifest: expected the version of the format, got nothing"},
    // sizes
    {"[\"q\", 0]", "[\"x\", 0]", ATTN_ERROR_MANIFEST, "sizes.batch: 'x' is not in \"operands\""},
    {"[\"q\", 0]", "[\"q\", 4]", ATTN_ERROR_MANIFEST, "sizes.batch[1]: expected 0 to 3, got 4"},
    {"[\"q\", 0]", "[\"q\"]", ATTN_ERROR_MANIFEST, "sizes.batch: expected [operand, dimension], got 1"},
    {"[\"q\", 0]", "[\"q\", 1]", ATTN_ERROR_MANIFEST, "sizes.batch: dimension 1 of q does not name it"},
    {"\"q_heads\": [", "\"batch\": [", ATTN_ERROR_MANIFEST, "sizes.batch: comes twice"},
    // operands
    {"\"operands\"", "\"oprands\"", ATTN_ERROR_MANIFEST, "operands: expected a list, got nothing"},
    {"\"name\": \"k\"", "\"name\": \"q\"", ATTN_ERROR_MANIFEST, "operands[1]: the name 'q' is used twice"},
    {"\"name\": \"k\"", "\"name\": 3", ATTN_ERROR_MANIFEST, "operands[1].name: expected a string, got a number"},
    {"\"name\": \"k\"", "\"name\": \"\"", ATTN_ERROR_MANIFEST,
     "operands[1].name: expected a name, got an empty string"},
    {"\"role\": \"in\"", "\"role\": \"inout\"", ATTN_ERROR_UNSUPPORTED, "operands[0].role: unknown role 'inout'"},
    {"\"type\": \"f32\"", "\"type\": \"f64\"", ATTN_ERROR_UNSUPPORTED,
     "operands[0].type: unknown type 'f64'; this library knows f16, bf16, f32"},
    {"\"dims\": [\"batch\"", "\"dims\": [\"bach\"", ATTN_ERROR_MANIFEST,
     "operands[0].dims[0]: 'bach' is not in \"sizes\""},
    {"\"dims\": [\"batch\"", "\"dims\": [-1", ATTN_ERROR_MANIFEST,
     "operands[0].dims[0]: expected 0 to 2147483647, got -1"},
    {"\"dims\": [\"batch\"", "\"dims\": [1.5", ATTN_ERROR_MANIFEST,
     "operands[0].dims[0]: expected an integer, got 1.5"},
    {"\"dims\": [\"batch\"", "\"dims\": [1e300", ATTN_ERROR_MANIFEST,
     "operands[0].dims[0]: expected an integer, got 1e+300"},
    {"\"dims\": [\"batch\"", "\"dims\": [true", ATTN_ERROR_MANIFEST,
     "operands[0].dims[0]: expected null, an integer or a size name, got true"},
    {"\"dims\": [\"batch\"", "\"dims\": [1,1,1,1,1,\"batch\"", ATTN_ERROR_UNSUPPORTED,
     "operands[0].dims: has 9 entries, this library takes at most 8"},
    {"\"dims\": [null]", "\"dims\": null", ATTN_ERROR_MANIFEST, "operands[3].dims: expected a list, got null"},
    {"\"dims\": [null]", "\"dims\": [null], \"layout\": 3", ATTN_ERROR_UNSUPPORTED,
     "operands[3]: unknown key 'layout'"},
    {"\"dims\": [null]", "\"dims\": [null], \"dims\": [null]", ATTN_ERROR_MANIFEST,
     "operands[3]: key 'dims' comes twice"},
    {"\"type\": \"f32\", \"dims\": []", "\"type\": \"bf16\", \"dims\": []", ATTN_ERROR_UNSUPPORTED,
     "operands[4].type: a scalar is f32 or i32, got bf16"},
    {"\"dims\": []", "\"dims\": [1]", ATTN_ERROR_MANIFEST, "operands[4].dims: a scalar has no dimensions, got 1"},
    // rules between sizes
    {"\"divides\"", "\"equals\"", ATTN_ERROR_UNSUPPORTED,
     "require[0]: unknown key 'equals'; this library knows divides"},
    {"[\"k_heads\", \"q_heads\"]", "[\"k_heads\"]", ATTN_ERROR_MANIFEST,
     "require[0].divides: expected [divisor, dividend]"},
    {"[\"k_heads\", \"q_heads\"]", "[\"k_heads\", \"x\"]", ATTN_ERROR_MANIFEST,
     "require[0].divides[1]: 'x' is not in \"sizes\""},
    {"\"do\": \"nothing\"", "\"do\": \"something\"", ATTN_ERROR_UNSUPPORTED, "empty[0].do: unknown action 'something'"},
    {"\"do\": \"nothing\"", "\"do\": \"nothing\", \"fill\": {}", ATTN_ERROR_MANIFEST,
     "empty[0]: expected either \"do\" or \"fill\", got both"},
    {", \"do\": \"nothing\"", "", ATTN_ERROR_MANIFEST, "empty[0]: expected either \"do\" or \"fill\", got neither"},
    {"{\"zero\": [\"k_len\"]", "{\"zero\": [\"x\"]", ATTN_ERROR_MANIFEST, "empty[1].zero[0]: 'x' is not in \"sizes\""},
    {"{\"o\": 0", "{\"q\": 0", ATTN_ERROR_MANIFEST, "empty[1].fill.q: 'q' is no operand of role out"},
    {"\"-inf\"", "\"minus infinity\"", ATTN_ERROR_MANIFEST, "empty[1].fill.lse: expected a number"},
    {"\"workspace\": []", "\"workspace\": [{\"name\": \"o\"}]", ATTN_ERROR_MANIFEST,
     "workspace[0]: the name 'o' is used twice"},
    {"\"workspace\": []", "\"workspace\": [{\"name\": \"w\", \"type\": \"f32\", \"dims\": [1], \"zero\": \"maybe\"}]",
     ATTN_ERROR_UNSUPPORTED, "workspace[0].zero: unknown word 'maybe'"},
    {"\"workspace\": []",
     "\"workspace\": [{\"name\": \"w\", \"type\": \"f32\", \"dims\": [\"batch\"], \"zero\": \"restored\"}]",
     ATTN_ERROR_MANIFEST, "workspace[0].zero: a restored buffer has integers for dims"},
    {"\"workspace\": []",
     "\"workspace\": [{\"name\": \"w\", \"type\": \"f32\", \"dims\": [1]}, {\"name\": \"c\", \"type\": \"i32\", "
     "\"dims\": [1], \"zero\": \"restored\"}]",
     ATTN_ERROR_MANIFEST, "workspace[1].zero: a restored buffer comes before all others, but 'w' is in front"},
    {"\"largest_divisor\"", "\"smallest_divisor\"", ATTN_ERROR_UNSUPPORTED,
     "values.section.rule: unknown rule 'smallest_divisor'"},
    {"\"budget\": 4096", "\"budget\": -1", ATTN_ERROR_MANIFEST, "values.section.budget: expected 0 to"},
    {"\"whole\": 3", "\"whole\": -1", ATTN_ERROR_MANIFEST, "values.section.whole: expected 0 to"},
    {"\"budget\": 4096", "\"budget\": 4096, \"x\": 1", ATTN_ERROR_UNSUPPORTED, "values.section: unknown key 'x'"},
    // kernels
    {"\"kernels\": [", "\"kernels\": [], \"x\": [", ATTN_ERROR_MANIFEST, "kernels: expected at least one kernel"},
    {"\"chip\": \"cpu\"", "\"chip\": \"gfx942\"", ATTN_ERROR_UNSUPPORTED,
     "kernels[0].chip: unknown chip 'gfx942'; expected cpu or sm_NN"},
    {"\"chip\": \"cpu\"", "\"chip\": \"sm_90A\"", ATTN_ERROR_UNSUPPORTED, "kernels[0].chip: unknown chip 'sm_90A'"},
    {"\"chip\": \"cpu\"", "\"chip\": \"sm_80\"", ATTN_ERROR_UNSUPPORTED,
     "kernels[0]: unknown key 'code'; this library knows name, chip, ptx, cubin"},
    {CPU_KERNEL, "\"chip\": \"sm_80\", \"threads\": 128", ATTN_ERROR_MANIFEST,
     "kernels[0]: a kernel for sm_80 needs \"ptx\" or \"cubin\""},
    {CPU_KERNEL, "\"chip\": \"sm_80\", \"ptx\": \"a.ptx\"", ATTN_ERROR_MANIFEST,
     "kernels[0].threads: expected an integer, got nothing"},
    {CPU_KERNEL, "\"chip\": \"sm_80\", \"ptx\": \"a.ptx\", \"threads\": 1025", ATTN_ERROR_MANIFEST,
     "kernels[0].threads: expected 1 to 1024, got 1025"},
    {CPU_KERNEL, "\"chip\": \"sm_80\", \"ptx\": \"a.ptx\", \"threads\": 128, \"cluster\": 2", ATTN_ERROR_UNSUPPORTED,
     "kernels[0]: unknown key 'cluster'"},
    {CPU_KERNEL, "\"chip\": \"sm_80\", \"ptx\": \"a.ptx\", \"threads\": 128", ATTN_ERROR_FILE,
     "a.ptx: cannot be opened: No such file"},
    {CPU_KERNEL, "\"chip\": \"sm_80\", \"ptx\": \"/etc/passwd\", \"threads\": 128", ATTN_ERROR_MANIFEST,
     "kernels[0].ptx: expected a path relative to the manifest"},
    {"\"code\": \"kernel.so\"", "\"code\": \"kernel.so\", \"cpu\": 3", ATTN_ERROR_MANIFEST,
     "kernels[0].cpu: expected a string, got a number"},
    {"\"code\": \"kernel.so\"", "\"code\": \"kernel.so\", \"cpu\": \"x86-64-v9\"", ATTN_ERROR_ARCH,
     "its code needs a x86-64-v9 processor, which this one is not"},
    {"\"chip\": \"cpu\", \"code\": \"kernel.so\"", "\"chip\": \"cpu\"", ATTN_ERROR_MANIFEST,
     "kernels[0]: a kernel for cpu needs \"code\""},
    {"\"kernel.so\"", "\"missing.so\"", ATTN_ERROR_FILE, "missing.so: cannot be opened"},
    {"\"kernel.so\"", "\"manifest.json\"", ATTN_ERROR_CODE, "kernel attention_fwd: "},
    {"\"attention_fwd\"", "\"attention_bwd\"", ATTN_ERROR_CODE, "kernel attention_bwd: "},
    {"\"one_per_tile\"", "\"min_sms\"", ATTN_ERROR_UNSUPPORTED,
     "kernels[0].grid: unknown grid 'min_sms'; this library knows one_per_tile for cpu"},
    {"\"by\": 4", "\"by\": 0", ATTN_ERROR_MANIFEST, "kernels[0].tiles[0].by: expected 1 to"},
    {"\"ceil\": \"q_len\"", "\"floor\": \"q_len\"", ATTN_ERROR_UNSUPPORTED,
     "kernels[0].tiles[0]: unknown key 'floor'; this library knows ceil, by"},
    {"\"tiles\": [{\"ceil\"", "\"tiles\": [[1, null], {\"ceil\"", ATTN_ERROR_MANIFEST,
     "kernels[0].tiles[0][1]: expected an integer, a size name"},
    // steps
    {"\"kernels\": [", "\"kernels\": [3, ", ATTN_ERROR_MANIFEST, "kernels[0]: expected an object, got a number"},
    {"\"kernels\": [", "\"kernels\": [{\"first_of\": []}, ", ATTN_ERROR_MANIFEST,
     "kernels[0].first_of: expected at least one kernel"},
    {"\"kernels\": [", "\"kernels\": [{\"first_of\": [3]}, ", ATTN_ERROR_MANIFEST,
     "kernels[0].first_of[0]: expected an object, got a number"},
    {"\"kernels\": [", "\"kernels\": [{\"first_of\": [{}], \"name\": \"x\"}, ", ATTN_ERROR_UNSUPPORTED,
     "kernels[0]: unknown key 'name'; this library knows first_of"},
    {CPU_KERNEL, CPU_KERNEL ", \"when\": {\"aligned\": [\"q\"]}", ATTN_ERROR_MANIFEST,
     "kernels[0].when: only an entry of \"first_of\" that another follows may be chosen"},
    {"\"kernels\": [", TWO(""), ATTN_ERROR_MANIFEST, "kernels[0].first_of[0].when: expected an object, got nothing"},
    {"\"kernels\": [", TWO(", \"when\": [{\"aligned\": [\"q\", \"x\"]}]"), ATTN_ERROR_MANIFEST,
     "kernels[0].first_of[0].when[0].aligned[1]: 'x' is no tensor in \"operands\""},
    {"\"kernels\": [", TWO(", \"when\": {\"aligned\": [\"cap\"]}"), ATTN_ERROR_MANIFEST,
     "kernels[0].first_of[0].when.aligned[0]: 'cap' is no tensor"},
    {"\"kernels\": [", TWO(", \"when\": {\"aligned\": [\"q\"], \"size\": \"q_len\"}"), ATTN_ERROR_UNSUPPORTED,
     "kernels[0].first_of[0].when: unknown key 'size'; this library knows aligned"},
    {"\"kernels\": [", TWO(", \"when\": {\"size\": \"length\"}"), ATTN_ERROR_MANIFEST,
     "kernels[0].first_of[0].when.size: 'length' is not in \"sizes\""},
    {"\"kernels\": [", TWO(", \"when\": {\"size\": \"q_len\", \"below\": 0}"), ATTN_ERROR_MANIFEST,
     "kernels[0].first_of[0].when.below: expected 1 to"},
    {"\"kernels\": [", TWO(", \"when\": {\"size\": \"q_len\", \"above\": 0}"), ATTN_ERROR_UNSUPPORTED,
     "kernels[0].first_of[0].when: unknown key 'above'; this library knows size, from, below"},
    // tensor maps
    {"{\"ptr\": \"q\"}", MAP("q", "panels5", "64", "32"), ATTN_ERROR_MANIFEST,
     "kernels[0].args[0]: a kernel for cpu has no tensor maps"},
    {"\"kernels\": [", MAPPED("x", "panels5", "64", "32"), ATTN_ERROR_MANIFEST,
     "kernels[0].args[0].map: 'x' is not in \"operands\""},
    {"\"kernels\": [", MAPPED("lse", "panels5", "64", "32"), ATTN_ERROR_UNSUPPORTED,
     "kernels[0].args[0].map: 'lse' has 3 dimensions; expected 4, the last of them a number"},
    {"\"kernels\": [", MAPPED("q", "panels", "64", "32"), ATTN_ERROR_UNSUPPORTED,
     "kernels[0].args[0].layout: unknown layout 'panels'; this library knows panels5, rows4"},
    {"\"kernels\": [", MAPPED("q", "panels5", "257", "32"), ATTN_ERROR_MANIFEST,
     "kernels[0].args[0].rows: expected 1 to 256, got 257"},
    {"\"kernels\": [", MAPPED("q", "panels5", "64", "48"), ATTN_ERROR_UNSUPPORTED,
     "kernels[0].args[0].swizzle: is 48; this library knows 32, 64, 128"},
    {"\"kernels\": [", MAPPED("q", "panels5", "64", "64"), ATTN_ERROR_MANIFEST,
     "kernels[0].args[0]: panels5 cuts a row into 1 to 256 panels of 64 bytes, but 'q' has 32 bytes a row"},
    {"\"kernels\": [", MAPPED("q", "panels5", "64", "32, \"box\": 1"), ATTN_ERROR_UNSUPPORTED,
     "kernels[0].args[0]: unknown key 'box'; this library knows map, layout, rows, swizzle"},
    {"\"kernels\": [",
     "\"kernels\": [{\"first_of\": [{\"name\": \"f\", \"chip\": \"sm_90\", \"ptx\": \"a.ptx\", \"threads\": 1, "
     "\"grid\": \"min_sms\", \"tiles\": 1, \"when\": {\"aligned\": [\"k\"]}, \"args\": [" MAP("q", "rows4", "64",
                                                                                              "32") "]}, {}]}, ",
     ATTN_ERROR_MANIFEST,
     "kernels[0].first_of[0].args[0]: 'q' has a tensor map here, so \"when\" must name it in \"aligned\""},
    // arguments
    {"{\"ptr\": \"q\"}", "{\"box\": \"q\"}", ATTN_ERROR_UNSUPPORTED,
     "kernels[0].args[0]: unknown key 'box'; this library knows ptr, strides, sizes, f32, i32, value, map"},
    {"{\"ptr\": \"q\"}", "{\"ptr\": \"q\", \"sizes\": \"q\"}", ATTN_ERROR_MANIFEST,
     "kernels[0].args[0]: expected one key, got 2"},
    {"{\"ptr\": \"q\"}", "{}", ATTN_ERROR_MANIFEST, "kernels[0].args[0]: expected one key, got 0"},
    {"{\"ptr\": \"q\"}", "\"q\"", ATTN_ERROR_MANIFEST, "kernels[0].args[0]: expected an object, got a string"},
    {"{\"ptr\": \"q\"}", "{\"ptr\": \"x\"}", ATTN_ERROR_MANIFEST,
     "kernels[0].args[0].ptr: 'x' is not in \"operands\" or \"workspace\""},
    {"{\"ptr\": \"q\"}", "{\"ptr\": \"cap\"}", ATTN_ERROR_MANIFEST,
     "kernels[0].args[0].ptr: 'cap' is a scalar, which has none"},
    {"{\"f32\": \"cap\"}", "{\"i32\": \"cap\"}", ATTN_ERROR_MANIFEST,
     "kernels[0].args[12].i32: expected a scalar of type i32, but 'cap' is a scalar of type f32"},
    {"{\"f32\": \"cap\"}", "{\"f32\": \"q\"}", ATTN_ERROR_MANIFEST,
     "kernels[0].args[12].f32: expected a scalar of type f32, but 'q' is a tensor"},
    {"{\"value\": \"section\"}", "{\"value\": \"x\"}", ATTN_ERROR_MANIFEST,
     "kernels[0].args[19].value: 'x' is not in \"values\""},
};

int main(int argc, char **argv) {
  begin(argc, argv);
  const char *good = MANIFEST(CPU_KERNEL);
  for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); ++i) {
    char *text = replaced(good, edits[i].from, edits[i].to);
    attn_kernel *kernel = (attn_kernel *)&kernel;
    EXPECT_FAIL(attn_kernel_load(write_file("manifest.json", text), &kernel), edits[i].status, edits[i].text);
    EXPECT(kernel == NULL);
    free(text);
  }
  // Unknown keys of the top level are notes for others.
  char *noted = replaced(good, "\"workspace\"", "\"compiler\": {\"version\": [1]}, \"workspace\"");
  attn_kernel *kernel;
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", noted), &kernel));
  attn_kernel_unload(kernel);
  free(noted);

  // Cut anywhere, it is refused.
  for (size_t cut = 0; cut + 2 < strlen(good); cut += 7) {
    char *text = strdup(good);
    text[cut] = 0;
    EXPECT_FAIL(attn_kernel_load(write_file("manifest.json", text), &kernel), ATTN_ERROR_MANIFEST, "is not JSON");
    free(text);
  }

  // Things that are no files, or no text.
  EXPECT_FAIL(attn_kernel_load(path_of("no-such.json"), &kernel), ATTN_ERROR_FILE, "no-such.json: cannot be opened");
  EXPECT_FAIL(attn_kernel_load(folder, &kernel), ATTN_ERROR_FILE, "is a directory, expected a file");
  EXPECT_FAIL(attn_kernel_load("/dev/zero", &kernel), ATTN_ERROR_FILE, "is no regular file");
  mkfifo(path_of("pipe"), 0666);
  EXPECT_FAIL(attn_kernel_load(path_of("pipe"), &kernel), ATTN_ERROR_FILE, "is no regular file");
  EXPECT_FAIL(attn_kernel_load(write_file("manifest.json", ""), &kernel), ATTN_ERROR_MANIFEST, ":1:1: is not JSON");
  EXPECT_FAIL(attn_kernel_load(write_file("manifest.json", "[]"), &kernel), ATTN_ERROR_MANIFEST,
              "top level: expected an object, got a list");
  char *deep = malloc(100001);
  memset(deep, '[', 100000);
  deep[100000] = 0;
  EXPECT_FAIL(attn_kernel_load(write_file("manifest.json", deep), &kernel), ATTN_ERROR_MANIFEST, "is not JSON");
  free(deep);
  FILE *zeros = fopen(path_of("manifest.json"), "wb");
  for (int i = 0; i < 1000; ++i)
    fputc(0, zeros);
  fclose(zeros);
  EXPECT_FAIL(attn_kernel_load(path_of("manifest.json"), &kernel), ATTN_ERROR_MANIFEST, "is not JSON");
  return 0;
}
