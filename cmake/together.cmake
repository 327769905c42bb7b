# compile_together(TARGET): a dozen files at a time are compiled as one, because most of the time goes into the headers that they
# share. So a name in an unnamed namespace is unique in its room. Files still include everything they use: tools/lint tidy compiles
# each alone, as does -DEASYRETRY_TOGETHER=OFF.
option(EASYRETRY_TOGETHER "Compile several files of a room at once: several times as fast" ON)

function(compile_together target)
  if(EASYRETRY_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    # GCC takes all files but the first for headers, in which a class must not have members of local types.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# inline_as_alone(TARGET): for rooms through which every task passes. GCC inlines less in a large file (of 10,000 instructions) than in
# a dozen small ones: moves of strings were calls. Elsewhere it would only cost time: half as much again for the command line.
function(inline_as_alone target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Debug>>>:--param=large-unit-insns=120000>)
endfunction()
